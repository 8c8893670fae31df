/** The tokens of one value: a refresh token, and the number of the session that it belongs to. */
export interface FamilyTokens {
  readonly refreshToken: number
  readonly session: number
}

/**
 * An identity provider whose refresh tokens can be used once. If one is used twice, its session is revoked: no token of it is
 * accepted any more.
 */
export class TokenFamily {
  sessions = 0
  /** How many refresh tokens were used again. */
  reused = 0
  readonly #used = new Set<number>()
  readonly #revoked = new Set<number>()
  #last = 0

  /** How many tokens were issued. */
  get issued(): number {
    return this.#last
  }

  signIn(): FamilyTokens {
    this.sessions += 1
    return this.#issue(this.sessions)
  }

  /** The next tokens; `undefined` if the session is revoked. */
  refresh({ refreshToken, session }: FamilyTokens): FamilyTokens | undefined {
    if (this.#used.has(refreshToken)) {
      this.reused += 1
      this.#revoked.add(session)
    }
    this.#used.add(refreshToken)
    return this.#revoked.has(session) ? undefined : this.#issue(session)
  }

  #issue(session: number): FamilyTokens {
    this.#last += 1
    return { refreshToken: this.#last, session }
  }
}
