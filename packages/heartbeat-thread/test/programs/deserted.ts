import { setTimeout as sleep } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { block } from '../support/block.js'
import { fromSource } from '../support/thread-options.js'

/** Milliseconds. A fence leaves a small part of it to obey: more than a thread of a busy machine waits for its turn. */
const TTL = 6_000

// Holds a self-fenced lease when its heartbeat thread fails, and then blocks its event loop, ignores its signal, or obeys it.
const [, , failure = 'throws', code = 'blocks'] = process.argv

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

const thread = new HeartbeatThread(fromSource)
const leaseClass = `${new URL('../support/faulty-lease.ts', import.meta.url).pathname}#faultyLease`
const store = await thread.open({ leaseClass })
const lease = createLease(store, 'held', { heartbeatTimeout: TTL, selfFence: 'kill' })

async function work({ signal }: { readonly signal: AbortSignal }): Promise<void> {
  // The thread fails at the acquisition of this lease.
  const failing = createLease(store, failure, { heartbeatTimeout: 60_000 }).acquire()
  failing.catch(() => {})
  print('working')
  // The request leaves this thread.
  await sleep(0)
  if (code === 'blocks') block(4 * TTL)
  else if (code === 'ignores') await sleep(4 * TTL)
  else await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

// Keeps the process alive, which waits for nothing else once the thread has ended.
const kept = sleep(3 * TTL)
const outcome = await lease.run(work).catch((error) => error)
print(`lost: ${outcome?.reason}`)
await kept
print('alive')
