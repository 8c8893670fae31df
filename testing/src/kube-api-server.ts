import { generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock } from '@leasehold/core'
import { freePorts } from './free-port.js'
import { ServerProcess } from './server-process.js'
import { StoppableServer } from './stoppable-server.js'

/** How long a slow machine may take to bring it up, in milliseconds. */
export const STARTING = 120_000

/** How long it may take for an answer of the tests, in milliseconds. */
const PATIENCE = 10_000

/** Where the ecosystem keeps the binaries of a control plane for tests. */
const assets = process.env.KUBEBUILDER_ASSETS ?? ''

/** Why there is no real server here; `undefined` where there is one. */
export const whyNoKubeApiServer: string | undefined = whyNot()

function whyNot(): string | undefined {
  if (assets === '') return 'KUBEBUILDER_ASSETS is not set: set it to a folder with kube-apiserver and etcd'
  const missing = ['kube-apiserver', 'etcd'].filter((program) => !existsSync(join(assets, program)))
  return missing.length === 0 ? undefined : `KUBEBUILDER_ASSETS (${assets}) has no ${missing.join(' and no ')}`
}

interface Place {
  readonly folder: string
  readonly port: number
  readonly args: readonly string[]
  /** Its own, unless it shares one. */
  readonly etcd: ServerProcess | undefined
}

/** A kube-apiserver over an etcd, both of this machine, with RBAC and the given tokens' users. */
export class KubeApiServer extends StoppableServer {
  readonly port: number
  readonly #place: Place

  private constructor(place: Place) {
    super()
    this.#place = place
    this.port = place.port
  }

  /** `etcd`: the URL of one that it shares with others; it has one of its own unless given. */
  static async start({ etcd }: { readonly etcd?: string } = {}): Promise<KubeApiServer> {
    const folder = mkdtempSync(join(tmpdir(), 'leasehold-kubernetes-'))
    const { client, peer, port } = await freePorts('client', 'peer', 'port')
    const own = etcd === undefined ? await ownEtcd(folder, client, peer) : undefined
    const args = argumentsIn(folder, port, etcd ?? `http://127.0.0.1:${client}`)
    const server = new KubeApiServer({ folder, port, args, etcd: own })
    try {
      await server.launch()
      await server.ready()
      return server
    } catch (error) {
      await server.stop()
      throw error
    }
  }

  /** It vouches for itself. */
  ca(): string {
    return readFileSync(join(this.#place.folder, 'apiserver.crt'), 'utf8')
  }

  /** Answers with the status code; 0 where there was none. */
  async ask(method: string, path: string, body?: object): Promise<number> {
    return await new Promise<number>((resolve) => {
      const headers = { authorization: 'Bearer admin', 'content-type': 'application/json' }
      const options = { host: '127.0.0.1', port: this.port, method, path, headers, agent: false as const }
      const sent = request({ ...options, timeout: PATIENCE, rejectUnauthorized: false }, (response) => {
        response.resume()
        response.on('end', () => resolve(response.statusCode ?? 0))
        response.on('error', () => resolve(0))
      })
      sent.on('timeout', () => sent.destroy())
      sent.on('close', () => resolve(0))
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

  /** Starts its process, again over the same etcd, and does not wait until it serves. */
  async launch(): Promise<void> {
    this.process = await run('kube-apiserver', this.#place.args, this.#place.folder)
  }

  /** Ended without a word and started again, over the same etcd. */
  async restart(): Promise<void> {
    await this.kill()
    await this.launch()
    await this.ready()
  }

  async stop(): Promise<void> {
    await this.kill()
    await this.#place.etcd?.end()
    rmSync(this.#place.folder, { recursive: true, force: true })
  }
}

function ownEtcd(folder: string, client: number, peer: number): Promise<ServerProcess> {
  const args = [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
  ]
  return run('etcd', args, folder)
}

/** Writes its keys and tokens into the folder. */
function argumentsIn(folder: string, port: number, etcd: string): readonly string[] {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const [signing, verifying, tokens] = [join(folder, 'sa.key'), join(folder, 'sa.pub'), join(folder, 'tokens.csv')]
  writeFileSync(signing, privateKey.export({ type: 'pkcs1', format: 'pem' }))
  writeFileSync(verifying, publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(tokens, 'admin,admin,1,"system:masters"\nnobody,nobody,2,\n')
  return [
    `--etcd-servers=${etcd}`,
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
  ]
}

function run(program: string, args: readonly string[], folder: string): Promise<ServerProcess> {
  return ServerProcess.spawn(join(assets, program), args, join(folder, `${program}.log`))
}
