/**
 * Three services (ingest, transform, publish) with two instances each pass on twelve orders. The working instance of
 * transform is killed in the middle. Exits 0 if every order was published once, in order.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { files, linesOf, type StageName, stageNames } from './stages.js'

interface Message {
  /** Of an instance that was granted its lease. */
  readonly position?: number
  readonly token?: string
  readonly stuckAt?: string
}

const orders = Array.from({ length: 12 }, (_, index) => `order-${index + 1}`)
const folder = mkdtempSync(join(tmpdir(), 'leasehold-pipeline-'))
const [source, , , published] = files.map((file) => join(folder, file)) as [string, string, string, string]
const instances: ChildProcess[] = []

function start(stage: StageName, ...args: string[]): ChildProcess {
  const instance = fork(fileURLToPath(new URL('instance.ts', import.meta.url)), [folder, stage, ...args])
  instances.push(instance)
  return instance
}

/** The first message that has this field. */
function messageWith(instance: ChildProcess, field: keyof Message): Promise<Message> {
  return new Promise((resolve) => {
    instance.on('message', (message: Message) => message[field] !== undefined && resolve(message))
  })
}

try {
  // The first instance of each service is granted its lease; transform gets stuck at the fifth order.
  const stuckAt = '{"order":"order-5"}'
  const holders = stageNames.map((stage) => start(stage, ...(stage === 'transform' ? [stuckAt] : [])))
  const [, transform] = holders as [ChildProcess, ChildProcess, ChildProcess]
  const stuck = messageWith(transform, 'stuckAt')
  const [, granted] = await Promise.all(holders.map((holder) => messageWith(holder, 'token')))
  console.log('ingest, transform and publish each have a holder')
  // The others wait behind them.
  const waiting = stageNames.map((stage) => start(stage))
  writeFileSync(source, orders.map((order) => `${order}\n`).join(''))
  await stuck
  const successor = messageWith(waiting[1] as ChildProcess, 'token')
  transform.kill('SIGKILL')
  console.log('the holder of transform is killed at order 5')
  const { position = 0, token = '' } = await successor
  const isLarger = BigInt(token) > BigInt(granted?.token ?? 0)
  console.log(`its successor goes on at order ${position + 1}, with a ${isLarger ? 'larger' : 'smaller'} fencing token`)
  while (linesOf(published).length < orders.length) await pause(50)
  // Nothing comes after the last order.
  await pause(200)
  const isDone = linesOf(published).join() === orders.map((order) => `published ${order.toUpperCase()}`).join()
  console.log(isDone ? `all ${orders.length} orders were published once, in order` : 'the orders are not complete')
  if (!isDone) process.exitCode = 1
} finally {
  const ends = instances.map((instance) => {
    if (instance.exitCode !== null || instance.signalCode !== null) return undefined
    const ended = once(instance, 'exit')
    if (instance.connected) instance.disconnect()
    return ended
  })
  await Promise.all(ends)
  rmSync(folder, { recursive: true, force: true })
}
