import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeConfig } from '@kubernetes/client-node'
import { systemClock } from '@leasehold/core'
import { freePorts } from '@leasehold/testing/free-port'
import { kubeConfigFor } from './kube-config-for.js'

/** How long a slow machine may take to bring it up, in milliseconds. */
export const STARTING = 120_000

/** Where the ecosystem keeps the binaries of a control plane for tests. */
const assets = process.env.KUBEBUILDER_ASSETS ?? ''

/** Why there is no real server here; `undefined` where there is one. */
export const whyNoRealServer: string | undefined = whyNot()

function whyNot(): string | undefined {
  if (assets === '') return 'KUBEBUILDER_ASSETS is not set: set it to a folder with kube-apiserver and etcd'
  const missing = ['kube-apiserver', 'etcd'].filter((program) => !existsSync(join(assets, program)))
  return missing.length === 0 ? undefined : `KUBEBUILDER_ASSETS (${assets}) has no ${missing.join(' and no ')}`
}

/** A kube-apiserver over an etcd, both of this machine, with RBAC and the given tokens' users. */
export class RealApiServer {
  readonly port: number
  readonly #folder: string
  readonly #etcd: ChildProcess
  readonly #arguments: readonly string[]
  #server: ChildProcess

  private constructor(folder: string, port: number, etcd: ChildProcess, args: readonly string[]) {
    this.#folder = folder
    this.port = port
    this.#etcd = etcd
    this.#arguments = args
    this.#server = run('kube-apiserver', args)
  }

  static async start(): Promise<RealApiServer> {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
    const { client, peer, port } = await freePorts('client', 'peer', 'port')
    const etcd = run('etcd', [
      `--data-dir=${join(folder, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ])
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const [signing, verifying, tokens] = ['sa.key', 'sa.pub', 'tokens.csv'].map((file) => join(folder, file))
    writeFileSync(signing ?? '', privateKey.export({ type: 'pkcs1', format: 'pem' }))
    writeFileSync(verifying ?? '', publicKey.export({ type: 'spki', format: 'pem' }))
    writeFileSync(tokens ?? '', 'admin,admin,1,"system:masters"\nnobody,nobody,2,\n')
    const server = new RealApiServer(folder, port, etcd, [
      `--etcd-servers=http://127.0.0.1:${client}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      `--cert-dir=${folder}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${tokens}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${verifying}`,
      `--service-account-signing-key-file=${signing}`,
      '--service-cluster-ip-range=10.0.0.0/24',
      '--disable-admission-plugins=ServiceAccount',
    ])
    await server.ready()
    return server
  }

  /** It vouches for itself. */
  ca(): string {
    return readFileSync(join(this.#folder, 'apiserver.crt'), 'utf8')
  }

  kubeConfig(token = 'admin'): Promise<KubeConfig> {
    return kubeConfigFor(this.port, token, this.ca())
  }

  /** Answers with the status code; 0 where there was none. */
  async ask(method: string, path: string, body?: object): Promise<number> {
    return await new Promise<number>((resolve) => {
      const headers = { authorization: 'Bearer admin', 'content-type': 'application/json' }
      const options = { host: '127.0.0.1', port: this.port, method, path, headers, agent: false as const }
      const sent = request({ ...options, rejectUnauthorized: false }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', () => resolve(0))
      })
      sent.on('error', () => resolve(0))
      sent.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  /** Until it serves, and the namespace of the tests is there. */
  async ready(): Promise<void> {
    const until = systemClock.now() + STARTING
    while (
      (await this.ask('GET', '/readyz')) !== 200 ||
      (await this.ask('GET', '/api/v1/namespaces/default')) !== 200
    ) {
      if (systemClock.now() > until) throw new Error(`the kube-apiserver was not ready within ${STARTING} ms`)
      await sleep(200)
    }
  }

  /** All requests hang from now on. */
  freeze(): void {
    this.#server.kill('SIGSTOP')
  }

  thaw(): void {
    this.#server.kill('SIGCONT')
  }

  /** Ended without a word and started again, over the same etcd. */
  async restart(): Promise<void> {
    await ended(this.#server, 'SIGKILL')
    this.#server = run('kube-apiserver', this.#arguments)
    await this.ready()
  }

  async stop(): Promise<void> {
    this.thaw()
    await ended(this.#server, 'SIGKILL')
    await ended(this.#etcd, 'SIGKILL')
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

function run(program: string, args: readonly string[]): ChildProcess {
  return spawn(join(assets, program), args, { stdio: 'ignore' })
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  await exited
}
