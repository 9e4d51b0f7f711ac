// task: How many days are left in the year in Tokyo, and in which ISO week is it there now?
// expect: { date: "YYYY-MM-DD", daysLeft: 0 to 365, isoWeek: 1 to 53 } for Tokyo's present date
const { datetime, day_of_week } = await tools.time.get_current_time({ timezone: "Asia/Tokyo" });

const [y, m, d] = datetime.slice(0, 10).split("-").map(Number);
const DAY = 24 * 60 * 60 * 1000;
const today = Date.UTC(y, m - 1, d);
const daysLeft = (Date.UTC(y, 11, 31) - today) / DAY;

function isoWeek(ms: number): number {
  const date = new Date(ms);
  const day = date.getUTCDay() || 7;
  date.setUTCDate(date.getUTCDate() + 4 - day);
  const yearStart = Date.UTC(date.getUTCFullYear(), 0, 1);
  return Math.ceil(((date.getTime() - yearStart) / DAY + 1) / 7);
}

const inWords = new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(daysLeft, "day");
return { date: datetime.slice(0, 10), day_of_week, daysLeft, inWords, isoWeek: isoWeek(today) };
