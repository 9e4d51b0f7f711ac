// How many minutes are there between 09:15 and 17:45, and what time is 17:45 UTC in Denver?
import { calculate } from "/tools/calculator/calculate.ts";
import { convert_time } from "/tools/time/convert_time.ts";

const minutes = await calculate({ expression: "(17 * 60 + 45) - (9 * 60 + 15)" });
const denver = await convert_time({ source_timezone: "UTC", time: "17:45", target_timezone: "America/Denver" });
const m = Math.round(Number(minutes.result));
return `${m} minutes (${Math.floor(m / 60)} h ${m % 60} min); in Denver it is ${denver.target.datetime.substring(11, 16)}`;
