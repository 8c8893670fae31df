/** One instance of a service: `instance.ts BACKEND URL OWNER`. It writes while it leads, and sends each write to its parent. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LeaseLostError } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'
import { openAccess } from './backends.js'

/** A message to the parent. Instants are in milliseconds on the monotonic clock of the machine. */
export type Message =
  | { readonly type: 'wrote'; readonly term: string; readonly at: number }
  /** A write was rejected. `isValid`: though this instance led in this term. */
  | { readonly type: 'refused'; readonly term: string; readonly isValid: boolean }

/** How many writes warm an instance up: its connections are open then, and its code is compiled. */
const WARM_UP = 50

/** The pause between two writes, in milliseconds. */
const PAUSE = 1

const [kind = '', url = '', owner = ''] = process.argv.slice(2)
const { store, write } = openAccess(kind, url)

const send = (message: Message): void => void process.send?.(message)

const election = new LeaderElection(store, {
  name: 'writer',
  owner,
  heartbeatTimeout: 3_000,
  heartbeatInterval: 500,
  operationTimeout: 500,
  // A leader has written under a larger token, so that these are rejected.
  prepare: async () => {
    for (let count = 0; count < WARM_UP; count += 1) await write(0n).catch(() => {})
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
  election.stop({ transfer: 'best' }).then(
    () => process.exit(),
    () => process.exit(1),
  )
})
process.on('disconnect', () => process.exit())
election.start()
