// An authorization server (npm's oidc-provider), and a gate in front of an MCP server that accepts
// only its tokens.
//
//   node servers.mjs MODULES UPSTREAM     prints {"issuer": ..., "mcp": ...}, then serves until standard input closes
//
// POST /settings at the gate changes the behaviour of both; GET /log lists the authorization
// server's requests.

import { createServer, request as ask } from 'node:http';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

const [modules, upstream] = process.argv.slice(2);
console.info = console.warn = () => {};
const { default: Provider } = await import(pathToFileURL(join(modules, 'oidc-provider/lib/index.js')));

const settings = {
  lifetime: 3600, // of access tokens, in seconds
  renewable: true, // whether refresh tokens are issued
  pkce: true, // whether the metadata announces PKCE
  issuer: null, // another issuer in the metadata
  redirectIssuer: null, // another issuer in the answer
  denies: false, // the person denies access
  audience: null, // another resource that tokens must name
  writes: [], // tools that need the scope tools:write
  person: 'ann', // who is logged in at the authorization server
  keys: {}, // personal keys beside the tokens, each with its person
  refusesSeen: false, // refuses all access tokens that it has accepted so far
  forgets: false, // the authorization server refuses all codes and refresh tokens
  down: false, // the authorization server answers only 503
};
const log = [];
const seen = new Set();
let refused = new Set();

const authorization = createServer();
await new Promise((ready) => authorization.listen(0, '127.0.0.1', ready));
const issuer = `http://127.0.0.1:${authorization.address().port}`;
const gate = createServer();
await new Promise((ready) => gate.listen(0, '127.0.0.1', ready));
const origin = `http://127.0.0.1:${gate.address().port}`;
const resource = `${origin}/mcp`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'known', client_secret: 'known-s3cret', application_type: 'native',
    redirect_uris: ['http://127.0.0.1/callback'], grant_types: ['authorization_code', 'refresh_token'],
  }],
  scopes: ['openid', 'offline_access', 'tools:read', 'tools:write'],
  cookies: { keys: ['of no importance'] },
  pkce: { methods: ['S256'], required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: async () => settings.renewable,
  findAccount: async (_context, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    revocation: { enabled: true },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_context, indicator) => ({
        scope: 'tools:read tools:write', audience: indicator, accessTokenFormat: 'opaque',
        accessTokenTTL: settings.lifetime,
      }),
    },
  },
});

// A person, usually Ann, is always logged in and agrees to everything, unless the settings say otherwise.
async function interact(context) {
  const { prompt, params, session, grantId } = await provider.interactionDetails(context.req, context.res);
  let result;
  if (settings.denies) {
    result = { error: 'access_denied', error_description: 'Ann said no' };
  } else if (prompt.name === 'login') {
    result = { login: { accountId: settings.person } };
  } else {
    const grant = grantId
      ? await provider.Grant.find(grantId)
      : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(' '));
    for (const [indicator, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      grant.addResourceScope(indicator, scopes.join(' '));
    }
    result = { consent: { grantId: await grant.save() } };
  }
  context.redirect(await provider.interactionResult(context.req, context.res, result, { mergeWithLastSubmission: true }));
}

provider.use(async (context, next) => {
  if (settings.down) {
    context.status = 503;
    return;
  }
  if (settings.forgets && context.path === '/token') {
    context.status = 400;
    context.body = { error: 'invalid_grant' };
    return;
  }
  if (context.path.startsWith('/interaction/')) {
    await interact(context);
    return;
  }
  await next();
  const body = context.oidc?.body ?? {};
  log.push({ path: context.path, status: context.status, grant: body.grant_type, resource: body.resource });
  if (context.path.startsWith('/.well-known/')) {
    if (!settings.pkce) delete context.body.code_challenge_methods_supported;
    if (settings.issuer) context.body.issuer = settings.issuer;
  }
  const location = context.response.get('location');
  if (settings.redirectIssuer && location.includes('iss=')) {
    const changed = new URL(location);
    changed.searchParams.set('iss', settings.redirectIssuer);
    context.response.set('location', changed.href);
  }
});
authorization.on('request', provider.callback());

// === the gate ===

function answer(response, status, body, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

function challenge(response, status, error, more = '') {
  const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
  answer(response, status, {}, { 'www-authenticate': `Bearer ${metadata}, ${error}${more}` });
}

async function guarded(request, response, body) {
  const value = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (!value) return challenge(response, 401, 'scope="tools:read"');
  const person = settings.keys[value];
  if (settings.refusesSeen) {
    settings.refusesSeen = false;
    refused = new Set(seen);
  }
  if (refused.has(value)) return challenge(response, 401, 'error="invalid_token", error_description="the token is too old"');
  const token = person ? { accountId: person, aud: resource, scope: '' } : await provider.AccessToken.find(value);
  if (!token) return challenge(response, 401, 'error="invalid_token", error_description="the token is not known"');
  seen.add(value);
  if (token.aud !== (settings.audience ?? resource)) {
    return challenge(response, 401, 'error="invalid_token", error_description="the token is for another audience"');
  }
  let message = {};
  try { message = JSON.parse(body); } catch { /* A request without a message. */ }
  const writes = message.method === 'tools/call' && settings.writes.includes(message.params?.name);
  if (writes && !token.scope.split(' ').includes('tools:write')) {
    return challenge(response, 403, 'error="insufficient_scope"', ', scope="tools:read tools:write"');
  }
  if (message.method === 'tools/call') log.push({ called: token.accountId });
  const { authorization: _token, ...headers } = request.headers;
  const onward = ask(new URL(upstream), { method: request.method, headers }, (reply) => {
    response.writeHead(reply.statusCode, reply.headers);
    reply.pipe(response);
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  onward.end(body);
}

gate.on('request', (request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const path = new URL(request.url, origin).pathname;
    if (path === '/settings') {
      Object.assign(settings, JSON.parse(body));
      answer(response, 200, settings);
    } else if (path === '/log') {
      answer(response, 200, log);
    } else if (path === '/.well-known/oauth-protected-resource/mcp') {
      answer(response, 200, { resource, authorization_servers: [issuer], scopes_supported: ['tools:read'] });
    } else if (path === '/mcp') {
      guarded(request, response, body);
    } else {
      answer(response, 404, {});
    }
  });
});

process.stdin.on('end', () => process.exit(0)).resume();
process.stdout.write(`${JSON.stringify({ issuer, mcp: resource })}\n`);
