-- Users who signed on at an issuer, without their tokens.

-- Binds each user to one account of an issuer. The row lives as long as the user, so that no other account with the
-- same address becomes the user.
CREATE TABLE issuer_accounts (
    tenant      TEXT   NOT NULL,
    email       TEXT   NOT NULL,
    issuer      TEXT   NOT NULL,
    -- The user at the issuer.
    subject     TEXT   NOT NULL,
    -- When the newest token whose claims the user has was issued, by the issuer's clock; 0 before the first.
    followed_ms BIGINT NOT NULL,
    PRIMARY KEY (tenant, email),
    UNIQUE (tenant, issuer, subject),
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);

-- One row for each client in a user's session. Rows are removed 90 days after their last token has expired.
CREATE TABLE sign_ons (
    -- Names the sign-on in records, and as the maker of API tokens.
    id         TEXT   PRIMARY KEY,
    tenant     TEXT   NOT NULL,
    email      TEXT   NOT NULL,
    issuer     TEXT   NOT NULL,
    -- The user at the issuer.
    subject    TEXT   NOT NULL,
    -- The session at the issuer; empty if its tokens name none.
    session    TEXT   NOT NULL,
    -- Of the newest token, by the issuer's clock.
    issued_ms  BIGINT NOT NULL,
    expires_ms BIGINT NOT NULL,
    -- When the issuer reported the end of the session.
    ended_ms   BIGINT,
    FOREIGN KEY (tenant, email) REFERENCES users (tenant, email) ON DELETE CASCADE
);
CREATE INDEX sign_ons_of_user ON sign_ons (tenant, email, issuer);
CREATE INDEX sign_ons_of_subject ON sign_ons (issuer, subject);
CREATE INDEX sign_ons_of_session ON sign_ons (issuer, session);

-- What issuers reported as ended: their earlier tokens admit nobody.
CREATE TABLE sign_outs (
    issuer    TEXT   NOT NULL,
    -- Empty if only a session ends.
    subject   TEXT   NOT NULL,
    -- Empty if all sessions of the subject end.
    session   TEXT   NOT NULL,
    -- Later tokens of the subject are valid; by the issuer's clock.
    issued_ms BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject, session)
);
CREATE INDEX sign_outs_of_session ON sign_outs (issuer, session);

-- Reports that were carried out, so that nobody repeats one.
CREATE TABLE sign_out_reports (
    issuer   TEXT   NOT NULL,
    id       TEXT   NOT NULL,
    -- A repetition after this time is refused as expired.
    until_ms BIGINT NOT NULL,
    PRIMARY KEY (issuer, id)
);
