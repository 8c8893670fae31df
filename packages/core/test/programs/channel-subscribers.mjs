// Plain JavaScript, as an application may be written. The first argument is the name of a task.
import { subscribe } from 'node:diagnostics_channel'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, Worker } from 'node:worker_threads'

const print = (line) => void process.stdout.write(`${line}\n`)
const task = process.argv[2]

// Some runtimes have no channels, and a page has none. Core is loaded only after this.
if (task === 'absent') process.getBuiltinModule = undefined
// A thread does not inherit the compiler of the sources.
if (!isMainThread) (await import('tsx/esm/api')).register()
const { createLease, MemoryLeaseStore } = await import('@leasehold/core')
const times = { heartbeatInterval: 50, heartbeatTimeout: 10_000, operationTimeout: 1_000 }
const lease = createLease(new MemoryLeaseStore(), 'report', { ...times, owner: isMainThread ? 'main' : 'worker' })

function failInEachSubscriber() {
  for (const name of ['acquired', 'renewed', 'released']) {
    subscribe(`leasehold:${name}`, () => {
      throw new Error(`the subscriber of ${name} failed`)
    })
  }
}

const tasks = {
  /** The process has a handler for errors that nobody caught. */
  async handled() {
    failInEachSubscriber()
    process.on('uncaughtException', ({ message }) => print(message))
    print(`acquired: ${await lease.acquire()}`)
    await lease.renew()
    print(`valid: ${lease.checkLease()}`)
    print(`released: ${await lease.release()}`)
  },
  /** It has none. */
  async unhandled() {
    failInEachSubscriber()
    await lease.acquire()
    await setTimeout(20_000)
    print('it goes on')
  },
  /** Another thread has a lease of its own: each thread hears of its own leases. */
  async threads() {
    subscribe('leasehold:acquired', ({ owner }) => print(`${isMainThread ? 'main' : 'worker'} heard of ${owner}`))
    if (isMainThread) {
      const worker = new Worker(new URL(import.meta.url), { argv: ['threads'] })
      await new Promise((resolve) => worker.once('exit', resolve))
    }
    await lease.acquire()
    await lease.release()
  },
  async absent() {
    subscribe('leasehold:acquired', () => print('published'))
    print(`done: ${await lease.run(async ({ fencingToken }) => fencingToken)}`)
  },
}
await tasks[task]()
