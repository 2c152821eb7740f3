"""pytest -p no_skips: a test that skips fails, where everything that tests want is there."""

import pytest


def fail_skipped(report):
    if report.skipped and not hasattr(report, "wasxfail"):
        _, _, reason = report.longrepr
        report.outcome = "failed"
        report.longrepr = f"nothing may be skipped here: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return fail_skipped((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return fail_skipped((yield))
