import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { KubeConfig } from '@kubernetes/client-node'
import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { certificate } from '@leasehold/testing'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { leases, type TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { call, granted, openStore, startServer } from './support/open-store.js'
import { mountServiceAccount, outsideOfClusters, temporaryFolder } from './support/service-account.js'

beforeEach(outsideOfClusters)

async function kubeconfigFile(server: TestApiServer, user: object, file = join(temporaryFolder(), 'config')) {
  const caData = Buffer.from((await certificate()).cert).toString('base64')
  const cluster = { server: `https://127.0.0.1:${server.port}`, 'certificate-authority-data': caData }
  const context = (namespace?: string) => ({
    cluster: 'c',
    user: 'u',
    ...(namespace === undefined ? {} : { namespace }),
  })
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user }],
    contexts: [
      { name: 'here', context: context() },
      { name: 'there', context: context('elsewhere') },
    ],
    'current-context': 'here',
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}

function open(options: KubernetesLeaseStoreOptions): KubernetesLeaseStore {
  const store = new KubernetesLeaseStore(options)
  onTestFinished(() => store.close())
  return store
}

describe('the cluster is that', () => {
  it('of the kubeconfig that is named, or of KUBECONFIG, or of the home folder', async () => {
    const server = await startServer()
    const file = await kubeconfigFile(server, { token: 'admin' })
    await granted(open({ kubeconfigFile: file }), { name: 'named' })
    vi.stubEnv('KUBECONFIG', file)
    await granted(open({}), { name: 'variable' })
    vi.stubEnv('KUBECONFIG', undefined)
    mkdirSync(join(String(process.env.HOME), '.kube'))
    await kubeconfigFile(server, { token: 'admin' }, join(String(process.env.HOME), '.kube', 'config'))
    await granted(open({}), { name: 'home' })
    expect(['named', 'variable', 'home'].filter((name) => server.get(leases, name) === undefined)).toEqual([])
  })

  it('of the pod, before that of the home folder', async () => {
    const server = await startServer()
    mkdirSync(join(String(process.env.HOME), '.kube'))
    await kubeconfigFile(server, { token: 'of-the-home' }, join(String(process.env.HOME), '.kube', 'config'))
    const serviceAccountFolder = await mountServiceAccount(server, 'admin')
    await granted(open({ serviceAccountFolder }))
    expect(new Set(server.requests.map(({ token }) => token))).toEqual(new Set(['admin']))
  })

  it('of a missing configuration: an error that names the ways to configure one', async () => {
    await expect(granted(open({}))).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(granted(open({}))).rejects.toThrow('set kubeconfigFile or KUBECONFIG')
  })

  it('not found if the file or the context is missing', async () => {
    const server = await startServer()
    await expect(granted(open({ kubeconfigFile: '/nowhere' }))).rejects.toThrow('the kubeconfig cannot be read')
    const file = await kubeconfigFile(server, { token: 'admin' })
    await expect(granted(open({ kubeconfigFile: file, context: 'x' }))).rejects.toThrow("no context 'x'")
  })
})

describe('the namespace is', () => {
  it('the one that is set, else the pod’s, else that of the context, else default', async () => {
    const server = await startServer()
    for (const namespace of ['set', 'of-the-pod', 'elsewhere']) server.namespaces.add(namespace)
    const file = await kubeconfigFile(server, { token: 'admin' })
    const serviceAccountFolder = await mountServiceAccount(server, 'admin', 'of-the-pod')
    const of = { kubeconfigFile: file, context: 'there' }
    await granted(open({ ...of, serviceAccountFolder, namespace: 'set' }), { name: 'a' })
    await granted(open({ ...of, serviceAccountFolder }), { name: 'b' })
    await granted(open({ ...of, serviceAccountFolder: '/nowhere' }), { name: 'c' })
    await granted(open({ kubeconfigFile: file, serviceAccountFolder: '/nowhere' }), { name: 'd' })
    const places = [
      ['a', 'set'],
      ['b', 'of-the-pod'],
      ['c', 'elsewhere'],
      ['d', 'default'],
    ] as const
    for (const [name, namespace] of places) expect(server.get(leases, name, namespace), name).toBeDefined()
  })
})

describe('credentials', () => {
  it('of an exec plugin are requested once, and again when the server rejects them', async () => {
    const server = await startServer()
    const folder = temporaryFolder()
    const plugin = join(folder, 'plugin')
    const tell = (token: string): void => {
      const status = { token, expirationTimestamp: '2099-01-01T00:00:00Z' }
      const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status }
      writeFileSync(plugin, `#!/bin/sh\necho called >> ${folder}/calls\necho '${JSON.stringify(credential)}'\n`)
      chmodSync(plugin, 0o700)
    }
    tell('first')
    server.tokens.set('first', 'everything')
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin }
    const store = open({ kubeconfigFile: await kubeconfigFile(server, { exec }) })
    const grant = await granted(store)
    server.tokens.delete('first')
    server.tokens.set('second', 'everything')
    tell('second')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(server.requests.map(({ token }) => token)).toEqual(['first', 'first', 'first', 'first', 'second'])
  })

  it('of an authenticator that the user added to a KubeConfig are asked for again when the server rejects them', async () => {
    const server = await startServer()
    const config = await kubeConfigFor(server.port)
    const [cluster] = config.clusters
    if (cluster === undefined) throw new Error('no cluster')
    config.loadFromClusterAndUser(cluster, { name: 'u', authProvider: { name: 'vault', config: {} } })
    let token = 'first'
    config.addAuthenticator({
      isAuthProvider: (user) => user.authProvider?.name === 'vault',
      applyAuthentication: async (_, options) => {
        options.headers = { ...options.headers, authorization: `Bearer ${token}` }
      },
    })
    server.tokens.set('first', 'everything')
    const store = open({ kubeConfig: config })
    const grant = await granted(store)
    server.disturb = (request) => {
      // The token changes while the first request is on its way.
      if (request.token === 'first') token = 'second'
      server.tokens.delete('first')
      server.tokens.set('second', 'everything')
      return undefined
    }
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
  })

  it('that stay invalid are rejected after one more try', async () => {
    const server = await startServer()
    const serviceAccountFolder = await mountServiceAccount(server, 'wrong')
    await expect(granted(open({ serviceAccountFolder }))).rejects.toBeInstanceOf(LeaseUnauthorisedError)
    expect(server.requests.length).toBe(2)
  })

  it('are not sent to another server: redirects are not followed', async () => {
    const [server, stranger] = [await startServer(), await startServer()]
    const location = `https://127.0.0.1:${stranger.port}/`
    server.disturb = () => ({ reply: { status: 307, body: '', headers: { location } } })
    const serviceAccountFolder = await mountServiceAccount(server, 'admin')
    await expect(granted(open({ serviceAccountFolder }))).rejects.toBeInstanceOf(LeaseUnavailableError)
    expect(stranger.requests).toEqual([])
  })

  it('of a pod do not go to the server of a kubeconfig', async () => {
    const server = await startServer()
    const serviceAccountFolder = await mountServiceAccount(server, 'of-the-pod')
    const file = await kubeconfigFile(server, {})
    await expect(granted(open({ serviceAccountFolder, kubeconfigFile: file }))).rejects.toBeInstanceOf(
      LeaseUnauthorisedError,
    )
    expect(server.requests.map(({ token }) => token)).not.toContain('of-the-pod')
  })

  it('are not sent over an unencrypted connection', async () => {
    const asked: string[] = []
    const plain = createServer((request, response) => {
      asked.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void plain.close())
    const config = new KubeConfig()
    const address = `http://127.0.0.1:${(plain.address() as AddressInfo).port}`
    config.loadFromClusterAndUser({ name: 'c', server: address, skipTLSVerify: true }, { name: 'u', token: 'secret' })
    await expect(granted(open({ kubeConfig: config }))).rejects.toThrow(
      'credentials are not sent over an unencrypted connection',
    )
    expect(asked).toEqual([])
  })
})

describe('TLS', () => {
  it('is verified: an untrusted certificate is rejected with a solution', async () => {
    const server = await startServer()
    const config = new KubeConfig()
    config.loadFromClusterAndUser(
      { name: 'c', server: `https://127.0.0.1:${server.port}`, skipTLSVerify: false },
      { name: 'u', token: 'admin' },
    )
    // No variable of the environment turns it off either.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    await expect(granted(open({ kubeConfig: config }))).rejects.toThrow(
      "add the cluster's certificate-authority to the kubeconfig",
    )
    expect(server.requests).toEqual([])
  })

  it('is not verified if the kubeconfig turns it off', async () => {
    const server = await startServer()
    const config = new KubeConfig()
    config.loadFromClusterAndUser(
      { name: 'c', server: `https://127.0.0.1:${server.port}`, skipTLSVerify: true },
      { name: 'u', token: 'admin' },
    )
    await granted(open({ kubeConfig: config }))
  })
})

describe('a connection', () => {
  it('is kept from one heartbeat to the next', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    for (let beat = 0; beat < 5; beat += 1) await store.renew(grant, call)
    expect(server.connections).toBe(1)
  })

  it('that the server closed while it was idle does not fail the next heartbeat', async () => {
    const server = await startServer()
    const store = await openStore(server.port)
    const grant = await granted(store)
    for (let beat = 0; beat < 20; beat += 1) {
      // The close and the request cross on their way.
      server.closeConnections()
      expect(await store.renew(grant, call)).toEqual({ renewed: true })
    }
  })

  it('uses any object with four methods of a KubeConfig', async () => {
    const server = await startServer()
    const config = await kubeConfigFor(server.port)
    const store = open({
      kubeConfig: {
        getCurrentCluster: () => config.getCurrentCluster(),
        getCurrentContext: () => config.getCurrentContext(),
        getContextObject: (name) => config.getContextObject(name),
        applyToHTTPSOptions: (options) => config.applyToHTTPSOptions(options),
      },
    })
    await granted(store)
  })

  it('to a server under a path keeps the path', async () => {
    const server = await startServer()
    const config = await kubeConfigFor(server.port)
    const cluster = config.getCurrentCluster()
    Object.assign(cluster ?? {}, { server: `${cluster?.server}/k8s/clusters/c-1/` })
    await expect(granted(open({ kubeConfig: config }))).rejects.toThrow('does not serve')
    expect(server.requests.map(({ path }) => path)).toEqual([
      '/k8s/clusters/c-1/apis/coordination.k8s.io/v1/namespaces/default/leases/job',
    ])
  })
})
