/** One process of a singleton that counts: `singleton-member.ts TASK`. It asks for the next number again and again. */
import { setTimeout as sleep } from 'node:timers/promises'
import { machineTime } from '@leasehold/core/store-kit'
import { RedisLeaseStore } from '@leasehold/redis'
import { httpTransport, Singleton } from '@leasehold/sharding'
import { redisState } from '@leasehold/sharding/redis'
import type { FleetTask, Holding } from '@leasehold/testing/fleet'
import { Redis } from 'ioredis'
import { fromTransition } from 'xstate'

export interface SingletonTask extends FleetTask {
  readonly port: number
  readonly ttl: number
}

/** The pause between two questions, in milliseconds. */
const PAUSE = 20

interface Next {
  readonly type: 'next'
  readonly reply?: (answer: Numbered) => void
}

/** A number, and when the actor gave it, on the clock of the machine, in milliseconds. */
interface Numbered {
  readonly number: number
  readonly at: number
}

const { owner, port, ttl }: SingletonTask = JSON.parse(process.argv[2] ?? '')

const report = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)

const note = (holding: Omit<Holding, 'token'> & { readonly token?: string }): void => report(holding)

const [leases, entities] = [0, 1].map((db) => {
  const client = new Redis(port, { maxRetriesPerRequest: 1, db })
  client.on('error', () => {})
  return client
}) as [Redis, Redis]

const counter = fromTransition((count: number, { reply }: Next) => {
  const at = machineTime()
  reply?.({ number: count + 1, at })
  note({ name: 'actor', owner, from: at, to: at })
  return count + 1
}, 0)

const singleton = new Singleton(new RedisLeaseStore(leases), {
  name: 'counter',
  owner,
  actor: counter,
  transport: httpTransport({ address: 'http://127.0.0.1:0', requestTimeout: 2_000 }),
  state: redisState(entities),
  heartbeatTimeout: ttl,
  heartbeatInterval: ttl / 6,
  operationTimeout: ttl / 3,
})
singleton.on('error', () => {})

let isStopping = false
process.on('SIGTERM', () => {
  isStopping = true
  singleton.stop().then(
    () => process.exit(),
    () => process.exit(1),
  )
})

await singleton.start()
report({})
while (!isStopping) {
  try {
    const { number, at } = await singleton.ask<Numbered>({ type: 'next' }, { timeout: 2_000 })
    // The number was saved: nobody else may get it.
    note({ name: 'numbers', owner, token: String(number), from: at, to: at })
  } catch {
    // Nobody runs the actor.
  }
  await sleep(PAUSE)
}
