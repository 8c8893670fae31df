/** Holds leases in a process of its own, and carries out the orders of its parent: `holder.mjs <task as JSON>`. */
import { Holder } from './holder.js'
import { openStore } from './open-store.js'
import type { HolderTask, Orders } from './orders.js'

export interface Message {
  readonly id: number
  readonly order: keyof Orders
  readonly of: never
}

const task: HolderTask = JSON.parse(process.argv[2] ?? '{}')
const holder = new Holder(openStore(task.store, task.address), task)

const orders: {
  readonly [O in keyof Orders]: (of: Orders[O]['of']) => Orders[O]['answer'] | Promise<Orders[O]['answer']>
} = {
  'warm-up': () => holder.warmUp(),
  hold: (of) => holder.hold(of),
  count: () => holder.count(),
  collect: () => holder.collect(),
  begin: () => holder.begin(),
  figures: () => holder.figures(),
  tokens: () => holder.tokens(),
  take: (of) => holder.take(of),
  cycles: (of) => holder.cycles(of),
  'hand-over': (of) => holder.handOver(of),
}

async function carryOut({ id, order, of }: Message): Promise<void> {
  try {
    process.send?.({ id, answer: await orders[order](of) })
  } catch (error) {
    process.send?.({ id, error: String(error) })
  }
}

process.on('disconnect', () => process.exit())
process.on('message', (message) => void carryOut(message as Message))
