import { setTimeout as pause } from 'node:timers/promises'
import { percentile } from '../../support/statistics.js'
import { divide, type Fleet } from '../holder/fleet.js'
import { CommandRate, type Rate } from '../servers/command-rate.js'
import type { StoreServer } from '../servers/store-server.js'
import type { HoldingTask } from './holding.js'
import { withProgress } from './progress.js'

/** For how long after the ttl a waiter may wait, in milliseconds: long enough to see by how much a goal is missed. */
const LONGEST_AFTER_TTL = 120_000

export interface TakeOver {
  /** Of the killed process. */
  readonly leases: number
  readonly taken: number
  /** From the kill to a grant, in milliseconds. */
  readonly median: number
  readonly longest: number
  /** Tokens that are not larger than the token of the killed holder. */
  readonly repeated: number
  /** Leases that the other processes lost meanwhile. */
  readonly lost: number
  readonly failures: number
  readonly rate: Rate
  /** The longest delay of the event loop of a process, in milliseconds. */
  readonly delayMax: number
}

/** Kills the first process with SIGKILL. The others wait for its leases, each for its part. */
export async function measureTakeOver(fleet: Fleet, server: StoreServer, task: HoldingTask): Promise<TakeOver> {
  const [victim] = fleet.holders
  if (victim === undefined || fleet.holders.length < 2) throw new Error('a take-over needs 2 processes or more')
  const tokens = await victim.ask('tokens')
  const others = fleet.withoutFirst()
  const { lost } = await others.counts()
  await others.all((holder) => holder.ask('begin'))
  const rate = new CommandRate(server)
  await pause(1_000)
  const since = Date.now()
  await victim.kill()
  const parts = divide({ first: 0, count: tokens.length }, others.holders.length)
  const wait = task.ttl + LONGEST_AFTER_TTL
  const orders = others.holders.map((holder, place) => {
    return holder.ask('take', { ...(parts[place] ?? { first: 0, count: 0 }), since, wait })
  })
  const answers = await withProgress('taking over', others, Promise.all(orders))
  const after = answers.flatMap((answer) => answer.after)
  const taken = answers.flatMap((answer) => answer.tokens)
  const figures = await others.all((holder) => holder.ask('figures'))
  return {
    leases: tokens.length,
    taken: after.length,
    median: percentile(after, 0.5),
    longest: percentile(after, 1),
    repeated: taken.filter((token, place) => token !== '' && BigInt(token) <= BigInt(tokens[place] ?? '')).length,
    lost: (await others.counts()).lost - lost,
    failures: answers.reduce((sum, { failures }) => sum + failures, 0),
    rate: await rate.stop(),
    delayMax: figures.reduce((most, { delayMax }) => Math.max(most, delayMax), 0),
  }
}
