/** One instance of a service: `instance.ts BACKEND URL OWNER`. It writes while it leads, and sends each write to its parent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, LeaseLostError } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { CONNECTIONS, openAccess } from './backends.js'

/** A message to the parent. Instants are in milliseconds on the monotonic clock of the machine. */
export type Message =
  | { readonly type: 'wrote'; readonly term: string; readonly at: number }
  /** A write was rejected. `isValid`: though this instance led in this term. */
  | { readonly type: 'refused'; readonly term: string; readonly isValid: boolean }

/** How often an instance writes and takes a lease on each connection before it is a candidate. */
const WARM_UP = 25

/** Exits this much later, in milliseconds: on one machine, the exit takes processor time from the successor. */
const EXIT_DELAY = 50

/** The pause between two writes, in milliseconds. */
const PAUSE = 1

const [kind = '', url = '', owner = ''] = process.argv.slice(2)
const { store, write } = openAccess(kind, url)

const send = (message: Message): void => void process.send?.(message)

const places = Array.from({ length: CONNECTIONS }, (_, place) => place)

/** The first call of a function takes PostgreSQL up to 3 ms on each connection, and Node has to compile the code. */
async function rehearse(place: number): Promise<void> {
  await createLease(store, `rehearsal/${owner}/${place}`).run(async () => {
    // A leader has written under a larger token, so that this is rejected.
    await write(0n).catch(() => {})
  })
}

const election = new LeaderElection(store, {
  name: 'writer',
  owner,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 500,
  operationTimeout: 500,
  prepare: async () => {
    for (let count = 0; count < WARM_UP; count += 1) await Promise.all(places.map((place) => rehearse(place)))
  },
  onElected: async ({ term, signal }) => {
    while (!signal.aborted) {
      try {
        await write(term)
        send({ type: 'wrote', term: String(term), at: Number(process.hrtime.bigint()) / 1e6 })
      } catch (error) {
        if (!(error instanceof LeaseLostError)) throw error
        send({ type: 'refused', term: String(term), isValid: election.term === term })
      }
      // The work ends as soon as it is asked to.
      await sleep(PAUSE, undefined, { signal }).catch(() => {})
    }
  },
})

process.on('SIGTERM', () => {
  election
    .stop({ transfer: 'best' })
    .then(() => sleep(EXIT_DELAY))
    .then(
      () => process.exit(),
      () => process.exit(1),
    )
})
process.on('disconnect', () => process.exit())
election.start()
