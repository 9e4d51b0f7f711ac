// A browser that follows redirects, keeps cookies, and notices a redirect to another host.
//
//   node browser.mjs URL           follows that redirect too, and prints the page
//   node browser.mjs URL --stop    stops there, and prints the address
//   node browser.mjs URL --token T sends the page's form with the token T first

const [start, option, token] = process.argv.slice(2);
const stop = option === '--stop';
const homes = new Map();
let url = new URL(start);
for (let hops = 0; hops < 20; hops += 1) {
  const cookies = homes.get(url.host) ?? new Map();
  homes.set(url.host, cookies);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const isHome = url.host === new URL(start).host;
  if (!isHome && stop) {
    console.log(url.href);
    break;
  }
  const headers = isHome || token ? { cookie } : {};
  const form = hops === 0 && token;
  const response = await fetch(url, form
    ? { method: 'POST', redirect: 'manual', headers: { ...headers, origin: url.origin }, body: new URLSearchParams({ token }) }
    : { redirect: 'manual', headers });
  for (const line of response.headers.getSetCookie?.() ?? []) {
    const [name, ...value] = line.split(';')[0].split('=');
    cookies.set(name, value.join('='));
  }
  const location = response.headers.get('location');
  if (!location) {
    console.log(`${response.status} ${await response.text()}`);
    break;
  }
  url = new URL(location, url);
}
