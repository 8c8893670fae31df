import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createLease } from '@leasehold/core'
import { EtcdLeaseStore } from '@leasehold/etcd'
import { type EtcdServer, etcdctl } from '@leasehold/testing/etcd-server'
import { Etcd3, EtcdLockFailedError } from 'etcd3'

/** Of all locks here, in milliseconds. */
const TTL = 60_000

/** How often a lock of etcd3 is tried again, in milliseconds: it has no way to wait. */
const RETRY = 10

/** A lock that can be taken and given back. */
export interface Lock {
  /** Waits for its turn. */
  acquire(): Promise<unknown>
  release(): Promise<unknown>
}

export interface Contender {
  readonly name: string
  /** Whether each lock is a process of its own. */
  readonly isProcess?: boolean
  open(server: EtcdServer): { lock(name: string): Lock; close(): Promise<void> }
}

const ours: Contender = {
  name: '**@leasehold/etcd**',
  open: (server) => {
    const store = new EtcdLeaseStore({ endpoints: [server.url] })
    let count = 0
    return {
      lock: (name) => {
        count += 1
        const timeouts = { heartbeatTimeout: TTL, heartbeatInterval: TTL / 10, operationTimeout: TTL / 6 }
        const lease = createLease(store, name, { owner: `owner ${count}`, ...timeouts })
        return { acquire: () => lease.acquire({ wait: Number.POSITIVE_INFINITY }), release: () => lease.release() }
      },
      close: () => store.close(),
    }
  },
}

const etcd3: Contender = {
  name: 'etcd3, `Lock`',
  open: (server) => {
    const client = new Etcd3({ hosts: server.url })
    return {
      lock: (name) => {
        let lock = client.lock(name).ttl(TTL / 1_000)
        return {
          acquire: async () => {
            for (;;) {
              try {
                await lock.acquire()
                return
              } catch (error) {
                if (!(error instanceof EtcdLockFailedError)) throw error
                lock = client.lock(name).ttl(TTL / 1_000)
                await new Promise((resolve) => setTimeout(resolve, RETRY))
              }
            }
          },
          release: () => lock.release(),
        }
      },
      close: async () => client.close(),
    }
  },
}

const program: Contender = {
  name: '`etcdctl lock`',
  isProcess: true,
  open: (server) => ({
    lock: (name) => {
      let child: ChildProcess | undefined
      return {
        acquire: async () => {
          child = spawn(etcdctl, [`--endpoints=${server.url}`, 'lock', '--ttl', String(TTL / 1_000), name])
          if (child.stdout !== null) await once(child.stdout, 'data')
        },
        release: async () => {
          if (child === undefined) return
          const exited = once(child, 'exit')
          child.kill('SIGINT')
          await exited
        },
      }
    },
    close: async () => {},
  }),
}

export const contenders: readonly Contender[] = [ours, etcd3, program]
