import { heldWhile } from '../../redis/contenders/held-while.js'
import { rivals } from '../../redis/redis-client.js'
import { type Contender, type Holder, type Place, TTL, type Use } from './contender.js'

interface Worker {
  on(event: 'lockRenewalFailed', listener: () => void): void
  on(event: 'error', listener: (error: Error) => void): void
}

interface Connection {
  readonly connection: { readonly host: string; readonly port: number }
}

interface Package {
  readonly Queue: new (name: string, options: Connection) => { add(name: string, data: object): Promise<unknown> }
  readonly Worker: new (
    name: string,
    process: () => Promise<void>,
    options: Connection & { readonly lockDuration: number; readonly stalledInterval: number },
  ) => Worker
}

/** How often both processes look for stalled jobs; the default is 30 s. Milliseconds. */
const STALLED_INTERVAL = 1_000

/** Each lock is that of a job in a queue of its own. The holder adds the job, and a waiter gets it when it has stalled. */
async function open({ port }: Place, { role }: Use): Promise<Holder> {
  const { Queue, Worker } = rivals.load<Package>('bullmq')
  const connection = { host: '127.0.0.1', port }
  const options = { connection, lockDuration: TTL, stalledInterval: STALLED_INTERVAL }
  return {
    hold: (name) =>
      heldWhile(async (onHeld) => {
        let isLost = false
        const listeners: (() => void)[] = []
        const process = (): Promise<void> =>
          onHeld({
            views: [{ means: '`lockRenewalFailed`', believes: () => !isLost }],
            onLoss: (listener) => listeners.push(listener),
          })
        const worker = new Worker(name, process, options)
        worker.on('error', () => {})
        worker.on('lockRenewalFailed', () => {
          isLost = true
          for (const listener of listeners) listener()
        })
        if (role === 'holder') await new Queue(name, { connection }).add('work', {})
      }),
  }
}

export function bullmq(): Contender {
  return {
    id: 'bullmq',
    label: `BullMQ ${rivals.versionOf('bullmq')}, job lock`,
    ours: false,
    isThreaded: false,
    isOnRedis: true,
    open,
  }
}
