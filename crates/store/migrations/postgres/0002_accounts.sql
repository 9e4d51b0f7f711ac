-- Users, teams and API tokens. No retention removes them.

CREATE TABLE users (
    tenant      TEXT   COLLATE "C" NOT NULL,
    email       TEXT   COLLATE "C" NOT NULL,
    role        TEXT   NOT NULL,
    created_ms  BIGINT NOT NULL,
    -- Since when none of the user's tokens is valid.
    disabled_ms BIGINT,
    PRIMARY KEY (tenant, email)
);

CREATE TABLE teams (
    tenant     TEXT   COLLATE "C" NOT NULL,
    id         TEXT   COLLATE "C" NOT NULL,
    name       TEXT   NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);

-- One row a user in a team.
CREATE TABLE memberships (
    tenant     TEXT   COLLATE "C" NOT NULL,
    team       TEXT   COLLATE "C" NOT NULL,
    email      TEXT   COLLATE "C" NOT NULL,
    role       TEXT   NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, team, email),
    FOREIGN KEY (tenant, team) REFERENCES teams (tenant, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);
CREATE INDEX memberships_of_user ON memberships (tenant, email);

-- One row an API token, without the token.
CREATE TABLE tokens (
    -- SHA-256 of the token's text, in hexadecimal digits.
    hash         TEXT   COLLATE "C" PRIMARY KEY,
    -- Names the token in lists and commands.
    id           TEXT   COLLATE "C" NOT NULL UNIQUE,
    tenant       TEXT   COLLATE "C" NOT NULL,
    email        TEXT   COLLATE "C" NOT NULL,
    name         TEXT,
    role         TEXT   NOT NULL,
    -- Ids of teams, separated by spaces; absent if the token is unrestricted.
    teams        TEXT,
    -- Names of permissions, separated by spaces; absent if the role's are not limited.
    scopes       TEXT,
    created_ms   BIGINT NOT NULL,
    -- The token with which this one was made.
    made_by      TEXT   COLLATE "C",
    expires_ms   BIGINT,
    revoked_ms   BIGINT,
    -- Exact to a minute.
    last_used_ms BIGINT,
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);
CREATE INDEX tokens_of_user ON tokens (tenant, email, created_ms, id);
CREATE INDEX tokens_of_tenant ON tokens (tenant, created_ms, id);
CREATE INDEX tokens_of_maker ON tokens (made_by);
