import { KubernetesGuard } from '@leasehold/kubernetes'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import { afterAll, beforeAll } from 'vitest'
import { configMaps, TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'

let server: TestApiServer
let count = 0

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(async () => {
  await server.stop()
})

/** The guard and its object. */
interface Guarded extends GuardedResource {
  fail(fencingToken: bigint, error: unknown): Promise<unknown>
}

const failing = (name: string, error: unknown): OwnFailure => ({
  name,
  guarded: (guard, token) => (guard as Guarded).fail(token, error),
  unguarded: () => Promise.reject(error),
})

const subject: GuardSubject = {
  name: 'KubernetesGuard',
  start: async () => {
    count += 1
    const name = `data-${count}`
    server.plant(configMaps, name, {})
    const kubeConfig = await kubeConfigFor(server.port)
    const object = `v1/configmaps/${name}`
    return {
      open: (): Guarded => {
        const guard = new KubernetesGuard({ kubeConfig, namespace: 'default' })
        return {
          write: (value, token) => guard.write(object, token, { data: { value } }),
          fail: (token, error) =>
            guard.transact(object, token, () => {
              throw error
            }),
          close: () => guard.close(),
        }
      },
      read: () => (server.get(configMaps, name)?.data as { value?: string } | undefined)?.value,
      ownFailures: [failing('an error', new RangeError("the user's own")), failing('no error', 'a text')],
    }
  },
}

describeGuardLaws(subject)
