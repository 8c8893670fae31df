import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LeaseLostError, type LeaseStore } from '@leasehold/core'
import type { LocalGuard } from '@leasehold/local'
import { type Leader, LeaderElection } from '@leasehold/recipes'

/** The parts that all instances of the service share. */
export interface Shared {
  readonly store: LeaseStore
  readonly guard: LocalGuard
  /** Appends an entry to the data of the service. */
  append(entry: string): void
}

/** How often a write is forwarded at most: two instances that each believe in the other must not forward it for ever. */
const MOST_HOPS = 3

/**
 * One instance of the service. `GET /leader` answers who leads. `POST /entries?text=…` writes: the leader does it, any other
 * instance forwards the request to the leader.
 */
export async function startInstance(name: string, { store, guard, append }: Shared) {
  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => reply(response, 503, { error: error.message }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  // #region election
  const election = new LeaderElection(store, {
    name: 'entries',
    owner: name,
    heartbeatTimeout: 3_000,
    heartbeatInterval: 500,
    operationTimeout: 500,
    metadata: { address },
    // This instance is a candidate when it can serve.
    prepare: () => warmUp(),
  })
  let leader: Leader | undefined
  const observing = (async () => {
    for await (const observed of election.observe()) leader = observed
  })()
  election.start()
  // #endregion election

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', address)
    if (pathname === '/health') return reply(response, election.healthy ? 200 : 500, {})
    if (pathname === '/leader') return reply(response, 200, { owner: leader?.owner, term: String(leader?.term) })
    await write(searchParams.get('text') ?? '', Number(searchParams.get('hops') ?? 0), response)
  }

  // #region write
  async function write(text: string, hops: number, response: ServerResponse): Promise<void> {
    const { term } = election
    if (term !== undefined) {
      try {
        // The guard rejects the write if a later leader has written meanwhile.
        guard.transact('entries', term, () => append(`${text} by ${name}`))
        return reply(response, 200, { writer: name })
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
      }
    }
    // The observed leader can be a moment old: ask again where it is not known, or this instance itself.
    const next = leader === undefined || leader.owner === name ? await election.leader() : leader
    const target = next?.owner === name ? undefined : next?.metadata.address
    if (target === undefined || hops >= MOST_HOPS) return reply(response, 503, { error: 'there is no leader now' })
    const forwarded = await fetch(`${target}/entries?text=${encodeURIComponent(text)}&hops=${hops + 1}`, {
      method: 'POST',
    })
    reply(response, forwarded.status, (await forwarded.json()) as object)
  }
  // #endregion write

  /** Hands the leadership over to another instance that is ready, then ends the server. */
  async function close(): Promise<void> {
    await election.stop({ transfer: 'best' })
    await observing
    server.closeAllConnections()
    server.close()
  }

  return { name, address, close }
}

/** A service would load its caches here, and connect to its data. */
async function warmUp(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
