// An issuer for tests: the real `oidc-provider` with the habits of a product, and a person at its pages.
//
// Usage: node issuer.mjs DIRECTORY_OF_NODE_MODULES PROFILE
// Prints the issuer's URL. Orders are lines of JSON on standard input, answers are lines of JSON on standard output:
//   {"configure": {...}}            replaces members of the configuration and makes the provider anew
//   {"rotate": true}                signs with a new key from now on, and publishes no other
//   {"login": USER, "client": ID, "resource"?: URL, "scope"?: TEXT}   the whole code flow; the tokens
//   {"refresh": TOKEN, "client": ID, "resource"?: URL}
//   {"logout": USER}                signs the user out at the issuer, which reports it to the clients

import { generateKeyPairSync, randomBytes, createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

// Answers alone go to standard output.
console.info = console.error;
const [modules, profileName] = process.argv.slice(2);
const load = (file) => import(pathToFileURL(path.join(modules, file)).href);
const { default: Provider } = await load('oidc-provider/lib/index.js');

const GUID = '6f2c1f0e-4b6a-4f57-9a0a-0d2f6f7b8c11';

// What each product does differently. `audience` and `claims` get the resource and the user.
const profiles = {
  plain: {
    path: '',
    audience: (resource) => resource,
    header: { typ: 'at+jwt' },
    claims: (user) => ({ email: user, email_verified: true, groups: groupsOf(user) }),
  },
  // No `resource`, the audience is the application's id, scopes are in `scp`, and no client registers itself.
  entra: {
    path: '/7c2d/v2.0',
    fixed: true,
    audience: () => GUID,
    header: { typ: 'JWT' },
    claims: (user, token) => ({
      preferred_username: user, oid: randomUUID(), tid: '7c2d', ver: '2.0', scp: token.scope, scope: undefined,
      azp: token.clientId, client_id: undefined, roles: groupsOf(user),
    }),
  },
  // An authorization server with an audience of its own; no type, and scopes are a list.
  okta: {
    path: '/oauth2/default',
    fixed: true,
    audience: () => 'api://default',
    header: { typ: undefined },
    claims: (user, token) => ({
      email: user, uid: randomUUID(), cid: token.clientId, client_id: undefined, scp: (token.scope ?? '').split(' '),
      scope: undefined, groups: groupsOf(user),
    }),
  },
  // Several audiences, the kind of token in a claim, roles in a claim within a claim, and the session's id.
  keycloak: {
    path: '/realms/main',
    fixed: true,
    audience: () => 'codeyard',
    header: { typ: 'JWT' },
    claims: (user, token, sid) => ({
      email: user, email_verified: true, typ: 'Bearer', azp: token.clientId, client_id: undefined, sid,
      realm_access: { roles: groupsOf(user) }, aud: ['codeyard', 'account'],
    }),
  },
};
const profile = profiles[profileName];

// ann@… is in the groups `staff` and `ann`.
function groupsOf(user) {
  return ['staff', user.split('@')[0]];
}

let number = 0;
function newKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  number += 1;
  return { ...privateKey.export({ format: 'jwk' }), kid: `key-${number}`, alg: 'RS256', use: 'sig' };
}

const settings = { logout_uri: undefined, ttl: 600, agent: undefined, extra: {} };
const cookieKey = randomBytes(16).toString('hex');
let keys = [newKey()];
let provider;
let handle;
let issuer;

const redirect = 'http://127.0.0.1:1/callback';

function client(id) {
  const logout = settings.logout_uri
    ? { backchannel_logout_uri: settings.logout_uri, backchannel_logout_session_required: true } : {};
  return {
    client_id: id, token_endpoint_auth_method: 'none', redirect_uris: [redirect], application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'], ...logout,
  };
}

function make() {
  provider = new Provider(issuer, {
    clients: [client('client-one'), client('client-two')],
    cookies: { keys: [cookieKey] },
    jwks: { keys },
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:use'],
    ttl: { AccessToken: () => settings.ttl, Session: 3600, Grant: 3600, IdToken: 600, RefreshToken: 3600 },
    features: {
      backchannelLogout: { enabled: true },
      devInteractions: { enabled: true },
      registration: { enabled: !profile.fixed },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => (profile.fixed ? 'api://fixed' : undefined),
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: 'mcp:read mcp:use', audience: profile.audience(resource), accessTokenFormat: 'jwt',
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    formats: {
      customizers: {
        jwt(ctx, token, jwt) {
          const sid = ctx.oidc.entities.AuthorizationCode?.sid ?? ctx.oidc.entities.RefreshToken?.sid;
          jwt.header = { ...jwt.header, ...profile.header };
          Object.assign(jwt.payload, profile.claims(token.accountId, token, sid), settings.extra);
          if (settings.agent) jwt.payload.act = { sub: settings.agent };
        },
      },
    },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: async () => true,
    pkce: { required: () => true },
    renderError: (ctx, out) => { ctx.body = out; },
  });
  provider.on('server_error', (_ctx, error) => console.error(error));
  handle = provider.callback();
}

const server = http.createServer((request, response) => {
  if (profile.path && request.url.startsWith(profile.path)) {
    request.originalUrl = request.url;
    request.url = request.url.slice(profile.path.length) || '/';
  }
  handle(request, response);
});

// One browser for each user, so that a user has one session.
const jars = new Map();

async function browse(user, url, form) {
  if (!jars.has(user)) jars.set(user, new Map());
  const jar = jars.get(user);
  const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
  const request = { redirect: 'manual', headers };
  if (form) {
    request.method = 'POST';
    request.body = new URLSearchParams(form);
  }
  const answer = await fetch(url, request);
  for (const cookie of answer.headers.getSetCookie()) {
    const [pair] = cookie.split(';');
    const at = pair.indexOf('=');
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
    if (value === '') jar.delete(name); else jar.set(name, value);
  }
  const to = answer.headers.get('location');
  return { status: answer.status, to: to && new URL(to, url).href, text: await answer.text() };
}

async function login(order) {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: order.client, response_type: 'code', redirect_uri: redirect, state: 's', prompt: 'login',
    scope: `openid ${order.scope ?? 'mcp:read mcp:use'}`, code_challenge_method: 'S256',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  });
  if (order.keep) query.delete('prompt');
  if (order.resource) query.set('resource', order.resource);
  let page = await browse(order.login, `${issuer}/auth?${query}`);
  for (let steps = 0; steps < 12; steps += 1) {
    if (page.to?.startsWith(redirect)) {
      const code = new URL(page.to).searchParams.get('code');
      if (!code) throw new Error(page.to);
      const body = { grant_type: 'authorization_code', code, redirect_uri: redirect, client_id: order.client, code_verifier: verifier };
      if (order.resource) body.resource = order.resource;
      return token(body);
    }
    if (page.to) {
      page = await browse(order.login, page.to);
      continue;
    }
    const action = /action="([^"]+)"/.exec(page.text)?.[1];
    if (!action) throw new Error(page.text);
    const prompt = /name="prompt" value="([^"]+)"/.exec(page.text)?.[1];
    const form = prompt === 'login' ? { prompt, login: order.login, password: 'x' } : { prompt };
    page = await browse(order.login, new URL(action, issuer).href, form);
  }
  throw new Error('the login does not end');
}

async function token(body) {
  const answer = await fetch(`${issuer}/token`, { method: 'POST', body: new URLSearchParams(body) });
  return answer.json();
}

async function logout(user) {
  const page = await browse(user, `${issuer}/session/end`);
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1];
  if (!xsrf) throw new Error(page.text);
  let done = await browse(user, `${issuer}/session/end/confirm`, { xsrf, logout: 'yes' });
  for (let steps = 0; done.to && steps < 5; steps += 1) done = await browse(user, done.to);
  return { status: done.status };
}

async function carryOut(order) {
  if (order.configure) {
    Object.assign(settings, order.configure);
    make();
    return {};
  }
  if (order.rotate) {
    keys = [newKey()];
    make();
    return {};
  }
  if (order.login) return login(order);
  if (order.refresh) {
    const body = { grant_type: 'refresh_token', refresh_token: order.refresh, client_id: order.client };
    return token(order.resource ? { ...body, resource: order.resource } : body);
  }
  return logout(order.logout);
}

server.listen(0, '127.0.0.1', () => {
  issuer = `http://127.0.0.1:${server.address().port}${profile.path}`;
  make();
  console.log(JSON.stringify({ issuer }));
});
const lines = readline.createInterface({ input: process.stdin });
lines.on('line', (line) => {
  carryOut(JSON.parse(line)).then(
    (answer) => console.log(JSON.stringify(answer)),
    (error) => console.log(JSON.stringify({ failed: String(error) })),
  );
});
// The tests' end is the issuer's end.
lines.on('close', () => process.exit(0));
