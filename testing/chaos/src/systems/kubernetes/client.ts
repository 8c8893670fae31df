import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { json } from 'node:stream/consumers'
import type { Clock } from '@leasehold/core'
import { KubernetesGuard, KubernetesLeaseStore } from '@leasehold/kubernetes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { guardedWrite } from '../guarded-write.js'
import type { Connection } from '../system.js'
import { type KubernetesClientSettings, REGISTERS, registerOf } from './settings.js'

const authorization = 'Bearer admin'

/** A client process of Kubernetes, over its own way to one of the API servers. */
export default function connect(
  settings: KubernetesClientSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const { server, ca, operationTimeout } = settings
  const kubeConfig = {
    getCurrentCluster: () => ({ server }),
    getCurrentContext: () => 'chaos',
    getContextObject: () => null,
    applyToHTTPSOptions: (options: { ca?: unknown; headers?: unknown }) => {
      Object.assign(options, { ca, headers: { ...Object(options.headers), authorization } })
      return Promise.resolve()
    },
  }
  const store = new KubernetesLeaseStore({ kubeConfig, namespace: 'default', clock, logger: silentLogger })
  const guard = new KubernetesGuard({ kubeConfig, namespace: 'default' })
  return Promise.resolve({
    store,
    register: (name) => ({
      write: (value, token) => {
        const signal = AbortSignal.timeout(operationTimeout)
        return guardedWrite(guard.write(`${REGISTERS}/${registerOf(name)}`, token, { data: { value } }, { signal }))
      },
      read: () => read(settings, name),
    }),
    close: async () => {
      await store.close()
      await guard.close()
    },
  })
}

/** A read without a version, past the code of the package: the API server passes it on to the quorum of etcd. */
async function read(
  { server, ca, operationTimeout }: KubernetesClientSettings,
  name: string,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(operationTimeout)
  const headers = { authorization }
  const sent = request(`${server}/api/${REGISTERS}/${registerOf(name)}`, { ca, headers, agent: false, signal })
  sent.end()
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const object = (await json(answer)) as { data?: { value?: string } }
  if (answer.statusCode !== 200) throw new Error(`the register was not read: ${answer.statusCode}`)
  return object.data?.value
}
