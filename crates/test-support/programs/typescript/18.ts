// task: Format 1234567.891 as US dollars, euros in German style and yen, and say the current date in Berlin in long German form.
// expect: usd "$1,234,567.89", eur "1.234.567,89 €" (non-breaking space), jpy ending in 1,234,568, and today's date in Berlin such as "Mittwoch, 1. Mai 2024"
const amount = 1234567.891;
const money = (locale: string, currency: string) =>
  new Intl.NumberFormat(locale, { style: "currency", currency }).format(amount);

const now = await tools.time.get_current_time({ timezone: "Europe/Berlin" });
const longDate = new Intl.DateTimeFormat("de-DE", {
  dateStyle: "full",
  timeZone: "Europe/Berlin",
}).format(new Date(now.datetime));

({
  usd: money("en-US", "USD"),
  eur: money("de-DE", "EUR"),
  jpy: money("ja-JP", "JPY"),
  longDate,
  isDst: now.is_dst,
});
