// #region tokens
import type { LeaseStore } from '@leasehold/core'
import { type Refreshing, SingleFlight } from '@leasehold/recipes'

/** The tokens of a user, as the identity provider issues them. */
export interface Tokens {
  readonly accessToken: string
  /** Can be used once. */
  readonly refreshToken: string
  /** For how long the access token is valid, in seconds. */
  readonly expiresIn: number
}

/** Your client of the identity provider. Give each request a time limit. */
export interface IdentityProvider {
  signIn(): Promise<Tokens>
  refresh(refreshToken: string): Promise<Tokens>
}

/** The tokens of users, shared by all processes over the store. One process refreshes them, and all get them. */
export function createSharedTokens(store: LeaseStore, provider: IdentityProvider) {
  const flight = new SingleFlight(store, {
    name: 'tokens',
    heartbeatTimeout: 2_000,
    heartbeatInterval: 300,
    operationTimeout: 500,
  })

  async function refresh({ previous, interrupted }: Refreshing<Tokens>): Promise<Tokens> {
    // A process has died in the middle of a refresh, so the refresh token may be used up. Do not use it again.
    if (previous === undefined || interrupted) return await provider.signIn()
    return await provider.refresh(previous.refreshToken)
  }

  return {
    /** A valid access token. `refused`: one that the API has refused before its time, to get another one. */
    accessToken: async (user: string, refused?: string): Promise<string> => {
      const tokens = await flight.get(user, refresh, {
        // Refresh behind the callers in the second half of the life, and before the end in any case.
        freshFor: ({ expiresIn }) => expiresIn * 500,
        staleFor: ({ expiresIn }) => expiresIn * 400,
        accepts: ({ accessToken }) => accessToken !== refused,
      })
      return tokens.accessToken
    },
    /** Call it on SIGTERM: a refresh in progress is completed. */
    stop: () => flight.stop(),
  }
}
// #endregion tokens
