-- Each user's own logins to upstream servers, encrypted.

CREATE TABLE logins (
    tenant          TEXT   COLLATE "C" NOT NULL,
    email           TEXT   COLLATE "C" NOT NULL,
    -- Name of the upstream server.
    server          TEXT   COLLATE "C" NOT NULL,
    -- Tokens and the client's identity, encrypted, in base64.
    sealed          TEXT   COLLATE "C" NOT NULL,
    updated_ms      BIGINT NOT NULL,
    -- Until when one process renews the login; 0 if none does.
    leased_until_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, email, server),
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);

-- Links that begin a login. A row is removed when its link is used.
CREATE TABLE login_links (
    -- SHA-256 of the link's secret, in hexadecimal digits.
    hash     TEXT   COLLATE "C" PRIMARY KEY,
    tenant   TEXT   COLLATE "C" NOT NULL,
    email    TEXT   COLLATE "C" NOT NULL,
    server   TEXT   COLLATE "C" NOT NULL,
    until_ms BIGINT NOT NULL,
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);

-- Logins for which a browser is at the authorization server.
CREATE TABLE pending_logins (
    -- SHA-256 of the `state`, in hexadecimal digits.
    hash     TEXT   COLLATE "C" PRIMARY KEY,
    tenant   TEXT   COLLATE "C" NOT NULL,
    email    TEXT   COLLATE "C" NOT NULL,
    server   TEXT   COLLATE "C" NOT NULL,
    -- SHA-256 of the cookie of the browser that began, in hexadecimal digits.
    browser  TEXT   COLLATE "C" NOT NULL,
    -- What the callback needs, encrypted, in base64.
    sealed   TEXT   COLLATE "C" NOT NULL,
    until_ms BIGINT NOT NULL,
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);
