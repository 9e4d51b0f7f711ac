# One moment in many places; every row has two records in it.
zones = ["Europe/Oslo", "America/Lima", "Asia/Tokyo", "Africa/Cairo", "Australia/Perth", "America/Denver"]
return [await tools.time.convert_time(source_timezone="UTC", time="12:00", target_timezone=zone) for zone in zones]
