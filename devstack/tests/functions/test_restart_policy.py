from devstack.functions.supervisor.restart_policy import CrashHistory, Recycle, Restart


def test_first_crash_restarts_at_once() -> None:
    _, step = CrashHistory().after_crash(100.0)
    assert step == Restart(0.0)


def test_crash_soon_after_a_restart_waits_until_ten_seconds_after_it() -> None:
    history, _ = CrashHistory().after_crash(100.0)
    _, step = history.after_crash(103.0)
    assert step == Restart(7.0)


def test_crash_long_after_a_restart_restarts_at_once() -> None:
    history, _ = CrashHistory().after_crash(100.0)
    _, step = history.after_crash(110.0)
    assert step == Restart(0.0)


def test_third_crash_recycles() -> None:
    history, _ = CrashHistory().after_crash(100.0)
    history, _ = history.after_crash(1000.0)
    _, step = history.after_crash(2000.0)
    assert step == Recycle()


def test_spacing_counts_from_the_delayed_restart() -> None:
    history, _ = CrashHistory().after_crash(100.0)
    history, _ = history.after_crash(101.0)
    assert history.last_restart == 110.0


def test_half_an_hour_without_a_crash_clears_the_count() -> None:
    history, _ = CrashHistory().after_crash(0.0)
    history, _ = history.after_crash(60.0)
    history, step = history.after_crash(60.0 + 1800.0)
    assert step == Restart(0.0)
    assert history.crashes == 1


def test_a_moment_less_than_half_an_hour_does_not() -> None:
    history, _ = CrashHistory().after_crash(0.0)
    history, _ = history.after_crash(60.0)
    _, step = history.after_crash(60.0 + 1799.9)
    assert step == Recycle()
