"""The plugin of this run."""

pytest_plugins = "pytester"


def test_skipped_tests_and_modules_fail(pytester):
    pytester.makepyfile(
        test_one="import pytest\n"
        "@pytest.mark.skip(reason='no time')\n"
        "def test_marked(): pass\n"
        "def test_called(): pytest.skip('no room')\n"
        "@pytest.mark.xfail\n"
        "def test_known(): assert False\n"
        "def test_fine(): pass\n",
        test_two="import pytest\npytest.importorskip('no_such_module')\n",
    )
    result = pytester.runpytest("-p", "no_skips", "-q", "--continue-on-collection-errors")
    result.assert_outcomes(passed=1, failed=1, xfailed=1, errors=2)
    result.stdout.fnmatch_lines(["*nothing may be skipped here: *no_such_module*"])
    result.stdout.fnmatch_lines(["*nothing may be skipped here: *no time*"])
    assert pytester.runpytest("-q").ret == 0
