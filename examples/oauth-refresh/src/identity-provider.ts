import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'

/** How long the access tokens are valid, in seconds. */
const EXPIRES_IN = 1

/** How long a refresh takes after the refresh token was used up, in milliseconds. */
const LATENCY = 50

/** What the provider has seen. */
interface Seen {
  sessions: number
  refreshes: number
  /** How many refresh tokens were used again after they had been used. */
  reused: number
}

/**
 * An identity provider that rotates refresh tokens: each is valid once. If one is used twice, it may have been stolen: then all
 * tokens of the session are revoked, and the user has to sign in again. `onRefresh` is called with the client whose refresh
 * token was just used up, before it gets the next one.
 */
export async function startIdentityProvider(onRefresh: (client: string) => void = () => {}) {
  const seen: Seen = { sessions: 0, refreshes: 0, reused: 0 }
  const revoked = new Set<number>()
  const used = new Set<string>()
  let count = 0

  function issue(session: number): object {
    count += 1
    const expiresAt = Date.now() + EXPIRES_IN * 1_000
    return {
      accessToken: `access-${session}-${expiresAt}`,
      refreshToken: `refresh-${session}-${count}`,
      expiresIn: EXPIRES_IN,
    }
  }

  async function refresh(refreshToken: string, client: string): Promise<object | undefined> {
    const session = Number(refreshToken.split('-')[1])
    if (used.has(refreshToken)) {
      seen.reused += 1
      revoked.add(session)
    }
    if (revoked.has(session)) return undefined
    used.add(refreshToken)
    seen.refreshes += 1
    onRefresh(client)
    await pause(LATENCY)
    return issue(session)
  }

  async function answer(request: IncomingMessage): Promise<object | undefined> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://provider')
    if (pathname === '/sign-in') {
      seen.sessions += 1
      return issue(seen.sessions)
    }
    if (pathname === '/refresh') {
      return await refresh(searchParams.get('token') ?? '', searchParams.get('client') ?? '')
    }
    const [, session, expiresAt] = (searchParams.get('token') ?? '').split('-').map(Number)
    const isValid = Number(expiresAt) > Date.now() && !revoked.has(Number(session))
    return isValid ? { name: 'Ada' } : undefined
  }

  const server = createServer((request, response) => {
    answer(request).then(
      (body) => response.writeHead(body === undefined ? 401 : 200).end(JSON.stringify(body ?? {})),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    seen,
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
