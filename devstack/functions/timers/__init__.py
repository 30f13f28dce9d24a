"""Timer trigger: schedules, their status, and one run at a time."""
