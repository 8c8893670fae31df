import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseConfigurationError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'
import { certificatesFor, silentLogger } from '@leasehold/testing'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { podConfig } from '../src/api/pod-config.js'
import { call, granted, startServer } from './support/open-store.js'
import {
  enterCluster,
  mountServiceAccount,
  outsideOfClusters,
  temporaryFolder,
  writeServiceAccount,
} from './support/service-account.js'

beforeEach(outsideOfClusters)

function open(options: KubernetesLeaseStoreOptions): KubernetesLeaseStore {
  const store = new KubernetesLeaseStore({ logger: silentLogger, ...options })
  onTestFinished(() => store.close())
  return store
}

/** A holder in a pod, with the token that the server knows. */
async function holder() {
  const server = await startServer()
  server.tokens.set('first', 'everything')
  const folder = await mountServiceAccount(server, 'first')
  const store = open({ serviceAccountFolder: folder })
  const grant = await granted(store)
  server.requests.length = 0
  const tokens = (): (string | undefined)[] => server.requests.map(({ token }) => token)
  return { server, store, grant, tokens, token: join(folder, 'token'), folder }
}

describe('the token of a pod', () => {
  it('is the new one as soon as the kubelet has replaced it, although the server still accepts the old one', async () => {
    const { server, store, grant, token, tokens } = await holder()
    server.tokens.set('second', 'everything')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    writeFileSync(token, 'second\n')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(tokens()).toEqual(['first', 'second'])
  })

  it('is read again when the server rejects it, so that no heartbeat fails', async () => {
    const { server, store, grant, token, tokens } = await holder()
    server.tokens.set('second', 'everything')
    server.disturb = (request) => {
      if (request.token !== 'first') return undefined
      // The token is replaced while the request is on its way.
      server.tokens.delete('first')
      writeFileSync(token, 'second')
      return undefined
    }
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(tokens()).toEqual(['first', 'second'])
  })

  it('is the last one while its file is empty or gone', async () => {
    const { store, grant, token, tokens, folder } = await holder()
    writeFileSync(token, '')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    rmSync(folder, { recursive: true })
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
    expect(tokens()).toEqual(['first', 'first'])
  })

  it('that was never there is an error that names the file', async () => {
    const server = await startServer()
    const folder = await mountServiceAccount(server, ' \n')
    const asked = granted(open({ serviceAccountFolder: folder }))
    await expect(asked).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(asked).rejects.toThrow(`cannot be loaded: ${join(folder, 'token')} is empty`)
    expect(server.requests).toEqual([])
  })
})

describe('the certificate of the API server', () => {
  it('of another authority than that of the pod is refused: no request and no token is sent', async () => {
    const server = await startServer()
    const [other] = await certificatesFor('127.0.0.1')
    const serviceAccountFolder = await mountServiceAccount(server, 'admin', 'default', other?.ca)
    // No variable of the environment turns the check off.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const asked = granted(open({ serviceAccountFolder }))
    await expect(asked).rejects.toBeInstanceOf(LeaseUnavailableError)
    await expect(asked).rejects.toThrow('in a pod, check ca.crt of the service account')
    expect(server.requests).toEqual([])
  })

  it('of a new authority is accepted when the kubelet has replaced the file', async () => {
    const server = await startServer()
    const [other] = await certificatesFor('127.0.0.1')
    const folder = await mountServiceAccount(server, 'admin', 'default', other?.ca)
    const store = open({ serviceAccountFolder: folder })
    await expect(store.read('job', call)).rejects.toThrow('is not trusted')
    await writeServiceAccount(folder, 'admin')
    expect(await store.read('job', call)).toBe(undefined)
  })
})

describe('a request that is aborted', () => {
  it('leaves no connection behind, and the next one works', async () => {
    const { server, store, grant } = await holder()
    let isStuck = true
    server.disturb = () => (isStuck ? { delay: new Promise(() => {}) } : undefined)
    const aborted = new AbortableCall()
    const reason = new Error('enough')
    const renewal = store.renew(grant, aborted)
    await vi.waitFor(() => expect(server.requests.length).toBe(1))
    aborted.abort(reason)
    await expect(renewal).rejects.toBe(reason)
    await vi.waitFor(() => expect(server.connections).toBe(0))
    isStuck = false
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
  })
})

describe('the address of the API server is', () => {
  it('that of the variables of the pod, with brackets around an IPv6 address, and 443 without a port', () => {
    const serviceAccountFolder = temporaryFolder()
    writeFileSync(join(serviceAccountFolder, 'token'), 'x')
    const server = (): string | undefined => podConfig({ serviceAccountFolder })?.getCurrentCluster().server
    expect(server()).toBe(undefined)
    enterCluster(6_443, '10.0.0.1')
    expect(server()).toBe('https://10.0.0.1:6443')
    enterCluster(443, 'fd00::1')
    expect(server()).toBe('https://[fd00::1]:443')
    vi.stubEnv('KUBERNETES_SERVICE_PORT', undefined)
    expect(server()).toBe('https://[fd00::1]:443')
  })

  it('not changed by the proxy of the environment', async () => {
    const { store, grant } = await holder()
    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, 'http://127.0.0.1:1')
    expect(await store.renew(grant, call)).toEqual({ renewed: true })
  })
})

it('a pod has no contexts: the option context is an error', async () => {
  const server = await startServer()
  const serviceAccountFolder = await mountServiceAccount(server, 'admin')
  await expect(granted(open({ serviceAccountFolder, context: 'there' }))).rejects.toThrow(
    "a pod has no context 'there'",
  )
})
