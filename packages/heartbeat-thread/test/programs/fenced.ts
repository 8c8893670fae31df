import { setTimeout as sleep } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { HeartbeatThread } from '@leasehold/heartbeat-thread'
import { block } from '../support/block.js'
import { fromSource } from '../support/thread-options.js'

/** Milliseconds. */
const TTL = 2_000

const print = (line: string): boolean => process.stdout.write(`${line}\n`)

// Holds self-fenced leases while its event loop is blocked: for a while, and then for ever.
const thread = new HeartbeatThread(fromSource)
const store = await thread.open({ leaseClass: '@leasehold/core#memoryLease' })
const kept = createLease(store, 'kept', { heartbeatTimeout: TTL, selfFence: 'kill' })
let reason: string | undefined
await kept.acquire({
  onLost: (lost) => {
    reason = lost.reason
  },
})
block(2 * TTL)
print(`held after a block: ${kept.checkLease()}`)
await kept.close()
// Longer than an acknowledgement may take.
await sleep(TTL)
print(`alive after a loss: ${reason}`)
const lost = createLease(store, 'lost', { heartbeatTimeout: TTL, selfFence: 'kill', unresponsiveAfter: 200 })
await lost.acquire()
print('blocked')
await sleep(10)
block(60_000)
print('alive')
