import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KubernetesClusterOptions, KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing'
import { type StoreLaw, type StoreSubject, storeLaws } from '@leasehold/testkit'
import { afterAll, beforeAll, vi } from 'vitest'
import type { LayoutName } from '../../src/kubernetes-options.js'
import { objectName } from '../../src/object-name.js'
import { kubeConfigFor } from './kube-config-for.js'
import { enterCluster, writeServiceAccount } from './service-account.js'

/** An API server as the laws need it. */
export interface LawServer {
  /** For test names. */
  readonly name?: string
  readonly port: () => number
  readonly ca?: () => string
  /** How the stores find it and sign in; with a `KubeConfig` unless given. */
  readonly cluster?: () => Promise<KubernetesClusterOptions>
  /** Removes the object of a name. */
  readonly remove: (name: string) => unknown
  /** Copies the object of a name; resolves with a function that writes the copy over the object, like `kubectl replace`. */
  readonly copy?: (name: string) => Promise<() => unknown>
  /** Ends it and begins it again, with all that it has confirmed. */
  readonly restart?: () => Promise<void>
}

/** The server, as the stores in one of its pods reach it. */
export function inPod(server: LawServer): LawServer {
  let serviceAccountFolder = ''
  beforeAll(async () => {
    serviceAccountFolder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
    await writeServiceAccount(serviceAccountFolder, 'admin', { ca: server.ca?.() })
    enterCluster(server.port())
  })
  afterAll(() => {
    vi.unstubAllEnvs()
    rmSync(serviceAccountFolder, { recursive: true })
  })
  return { ...server, name: 'in a pod', cluster: async () => ({ serviceAccountFolder }) }
}

/**
 * A new record bears no token, and any program may write the object. So the holder cannot see whether a process with its grant
 * id has claimed the name again before the first heartbeat of that process. Its own process always sees it.
 */
export const stateLaws: readonly StoreLaw[] = storeLaws.filter(({ name }) => {
  return name !== 'a grant that expired does not come back with a late duplicate of its claim'
})

/** The laws that need a watch, which works in real time only. */
export const watchLaws: readonly StoreLaw[] = storeLaws.filter(
  ({ needs }) => needs.includes('watch') || needs.includes('watchGrant'),
)

/** The laws of challengers that look once: the clock of the server is real. */
export const lookLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('looks'))

/** Stores over a server. In virtual time without watches, for a stream has no part in it. */
export function subjectOver(server: LawServer, layout: LayoutName, time: 'virtual' | 'real'): StoreSubject {
  return {
    name: `kubernetes, layout ${layout}${server.name === undefined ? '' : `, ${server.name}`}`,
    time,
    clients: true,
    remote: true,
    start: async () => {
      const { copy } = server
      const cluster = (await server.cluster?.()) ?? {
        kubeConfig: await kubeConfigFor(server.port(), 'admin', server.ca?.()),
      }
      return {
        open: (clock) =>
          new KubernetesLeaseStore({
            ...cluster,
            layout,
            clock,
            watch: time === 'real',
            // There is one server.
            clockDifference: 0,
            logger: silentLogger,
          }),
        delete: (name) => server.remove(objectName(name)),
        ...(copy === undefined ? {} : { copy: (name: string) => copy(objectName(name)) }),
        ...(server.restart === undefined ? {} : { restart: server.restart }),
      }
    },
  }
}
