import type { Tokens } from './shared-tokens.js'

/** The calls of one process to the identity provider. Each has a time limit. */
export function createProviderClient(address: string, client: string) {
  const ask = async (path: string, token = ''): Promise<Response> =>
    await fetch(`${address}${path}?token=${token}&client=${client}`, { signal: AbortSignal.timeout(5_000) })

  async function tokensFrom(response: Response): Promise<Tokens> {
    if (response.status === 401) throw new SessionRevokedError('the session was revoked: the user has to sign in')
    if (!response.ok) throw new Error(`the identity provider answered ${response.status}`)
    return (await response.json()) as Tokens
  }

  return {
    /** Begins a session. In a service, the user does this in a browser. */
    signIn: async () => await tokensFrom(await ask('/sign-in')),
    refresh: async (refreshToken: string) => await tokensFrom(await ask('/refresh', refreshToken)),
    /** Calls the API for the user. Resolves with whether it accepted the access token. */
    readProfile: async (accessToken: string) => (await ask('/profile', accessToken)).ok,
  }
}

export type ProviderClient = ReturnType<typeof createProviderClient>

export class SessionRevokedError extends Error {}
