import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './eventually.js'
import { freePort } from './free-port.js'
import { httpGet } from './http-get.js'
import { ServerProcess } from './server-process.js'
import { serverProgram } from './server-program.js'

/** `prometheus`, by the variable `PROMETHEUS`. */
export const prometheusProgram = serverProgram('PROMETHEUS', 'prometheus')

/** `promtool`, by the variable `PROMTOOL`: part of the same package. */
export const promtoolProgram = serverProgram('PROMTOOL', 'promtool')

export interface PrometheusServerOptions {
  /** The text of a file of rules. */
  readonly rules: string
  /** The time between two scrapes, and between two evaluations of the rules, as Prometheus writes it. */
  readonly interval: string
}

/** An alert, as the API of Prometheus shows it. */
export interface PrometheusAlert {
  readonly state: 'pending' | 'firing'
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** How many series a query finds, with the labels and the value of each. */
export type PrometheusVector = readonly { readonly labels: Readonly<Record<string, string>>; readonly value: number }[]

/**
 * A real Prometheus of this machine, which scrapes processes of this machine. It listens on 127.0.0.1, and does not outlive
 * the process of the tests.
 */
export class PrometheusServer {
  readonly #dir: string
  readonly #url: string
  readonly #process: ServerProcess
  readonly #ports = new Map<string, number>()

  private constructor(dir: string, url: string, started: ServerProcess) {
    this.#dir = dir
    this.#url = url
    this.#process = started
  }

  /** Resolves when it answers. */
  static async start({ rules, interval }: PrometheusServerOptions): Promise<PrometheusServer> {
    if (prometheusProgram.path === undefined) throw new Error(prometheusProgram.whyNot)
    const dir = mkdtempSync(join(tmpdir(), 'leasehold-prometheus-'))
    const port = await freePort()
    writeFileSync(join(dir, 'rules.yml'), rules)
    writeFileSync(join(dir, 'targets.json'), '[]')
    writeFileSync(join(dir, 'prometheus.yml'), configuration(dir, interval))
    const started = await ServerProcess.spawn(
      prometheusProgram.path,
      [
        `--config.file=${join(dir, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(dir, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      join(dir, 'log'),
      { cwd: dir },
    )
    const server = new PrometheusServer(dir, `http://127.0.0.1:${port}`, started)
    await eventually('prometheus answers', async () => started.hasEnded || (await server.#get('/-/ready')).ok)
    if (started.hasEnded) throw new Error(`prometheus did not start: ${server.#log()}`)
    return server
  }

  /** From now on, it scrapes this port of 127.0.0.1, whose label `instance` is the name. */
  scrape(instance: string, port: number): void {
    this.#ports.set(instance, port)
    const targets = [...this.#ports].map(([name, each]) => ({
      targets: [`127.0.0.1:${each}`],
      labels: { instance: name },
    }))
    writeFileSync(join(this.#dir, 'targets.json'), JSON.stringify(targets))
  }

  /** The alerts that are pending or firing. */
  async alerts(): Promise<readonly PrometheusAlert[]> {
    const { alerts } = await this.#data<{ alerts: readonly PrometheusAlert[] }>('/api/v1/alerts')
    return alerts
  }

  /** What an expression finds now. */
  async query(expression: string): Promise<PrometheusVector> {
    const path = `/api/v1/query?query=${encodeURIComponent(expression)}`
    const { result } = await this.#data<{
      result: readonly { metric: Record<string, string>; value: [number, string] }[]
    }>(path)
    return result.map(({ metric, value }) => ({ labels: metric, value: Number(value[1]) }))
  }

  /** Ends it, with its folder. */
  async stop(): Promise<void> {
    await this.#process.end()
    rmSync(this.#dir, { recursive: true, force: true })
  }

  async #data<T>(path: string): Promise<T> {
    const answer = await this.#get(path)
    const { data, error } = (await answer.json()) as { data?: T; error?: string }
    if (data === undefined) throw new Error(`prometheus answered ${answer.status}: ${error}\n${this.#log()}`)
    return data
  }

  #get(path: string): Promise<Response> {
    return httpGet(`${this.#url}${path}`)
  }

  #log(): string {
    return readFileSync(join(this.#dir, 'log'), 'utf8').slice(-2_000)
  }
}

function configuration(dir: string, interval: string): string {
  return `
global: { scrape_interval: ${interval}, scrape_timeout: ${interval}, evaluation_interval: ${interval} }
rule_files: [${join(dir, 'rules.yml')}]
scrape_configs:
  - job_name: fleet
    file_sd_configs: [{ files: [${join(dir, 'targets.json')}] }]
`
}
