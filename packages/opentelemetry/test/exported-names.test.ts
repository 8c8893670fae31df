import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpGet } from '@leasehold/testing/http-get'
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instrumentLeases } from '../src/index.js'
import { alertNames, dashboard, expressionsOf, rules } from './support/deploy-files.js'
import { leaseFields, publish, trace } from './support/messages.js'

/** One message of each kind, so that each instrument has a value. */
async function publishAll(): Promise<void> {
  const lease = leaseFields('exported')
  const grant = { fencingToken: 1n, grantId: 'g', ttl: 2_000 }
  await trace('acquire', { ...lease, outcome: 'granted' }, async () => {})
  const failing = { ...lease, operation: 'renew', leases: 1 }
  await trace('store', failing, () => Promise.reject(new Error('cut off'))).catch(() => {})
  publish('acquired', { ...lease, ...grant, from: 'expiry', vacancy: 5 })
  publish('renewed', { ...lease, ...grant, duration: 3, remaining: 1_200, margin: 0.6 })
  publish('waiting', { ...lease, waiting: true })
  publish('jeopardy', { ...lease, fencingToken: 1n, remaining: 300 })
  publish('lost', { ...lease, reason: 'expired', lost: {}, held: 5_000 })
  publish('acquired', { ...lease, ...grant, from: 'free' })
  publish('guard-rejected', { guard: 'redis', store: 'redis', resource: 'r', token: 1n })
  publish('stall', { lateness: 20 })
  publish('elected', { election: 'exported', owner: 'o', term: 1n })
  publish('tick', { schedule: 'exported', owner: 'o', due: 1, started: 2, lag: 1, outcome: 'done' })
  publish('permit', { semaphore: 'exported', owner: 'o', held: true, permits: 2 })
  publish('partitions', { group: 'exported', owner: 'o', wanted: 1, held: 1, unowned: 0 })
  publish('shard', { region: 'exported', owner: 'o', shard: 1, state: 'taken' })
  publish('delivery', { region: 'exported', owner: 'o', operation: 'tell', outcome: 'delivered' })
  publish('region', { region: 'exported', owner: 'o', entities: 1, waiting: 1 })
}

/** The answer to a scrape of Prometheus. */
async function scrape(exporter: PrometheusExporter): Promise<string> {
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response)).listen(
    0,
    '127.0.0.1',
  )
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    const { port } = server.address() as AddressInfo
    return await (await httpGet(`http://127.0.0.1:${port}/metrics`)).text()
  } finally {
    server.close()
  }
}

/** The names of metrics in an expression, without those of recording rules, which have colons. */
function namesIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w:.])leasehold_\w+(?![\w:])/g)].map(([name]) => name)
}

/** The labels by which an expression groups or selects. */
function labelsIn(text: string): string[] {
  const groups = [...text.matchAll(/\b(?:by|on|ignoring|without) \(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(','),
  )
  const matchers = [...text.matchAll(/[{,]\s*(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label)
  return [...groups, ...matchers].map((label) => label.trim()).filter((label) => label !== '')
}

describe('the files for Prometheus and Grafana', () => {
  const exporter = new PrometheusExporter({ preventServerStart: true })
  const meterProvider = new MeterProvider({ readers: [exporter] })
  const instrumentation = instrumentLeases({ meterProvider })
  let names: Set<string>
  let labels: Set<string>

  beforeAll(async () => {
    await publishAll()
    const lines = (await scrape(exporter)).split('\n').filter((line) => /^leasehold_/.test(line))
    names = new Set(lines.map((line) => line.replace(/[{ ].*/, '')))
    // The labels of Prometheus itself, after those of the exporter.
    labels = new Set(['job', 'instance', 'alertname', 'alertstate'])
    for (const line of lines) for (const [, label = ''] of line.matchAll(/[{,](\w+)="/g)) labels.add(label)
  })

  afterAll(async () => {
    instrumentation.disable()
    await meterProvider.shutdown()
  })

  const expressions = rules.replaceAll(/#.*/g, '')
  const queries = [...expressionsOf(dashboard), ...dashboard.templating.list.map(({ query }) => query)]

  it('use only metrics that the exporter shows', () => {
    const used = [expressions, ...queries].flatMap(namesIn)
    expect(used.length).toBeGreaterThan(30)
    expect(used.filter((name) => !names.has(name))).toEqual([])
  })

  it('use only labels that the exporter shows', () => {
    const made = new Set(['le'])
    const used = [expressions.replaceAll(/\{\{.*?\}\}/g, ''), ...queries].flatMap(labelsIn)
    expect(used.length).toBeGreaterThan(30)
    expect(used.filter((label) => !labels.has(label) && !made.has(label))).toEqual([])
  })

  it('show each metric in a panel', () => {
    const shown = new Set(queries.flatMap(namesIn).map(withoutPart))
    expect([...names].map(withoutPart).filter((name) => !shown.has(name))).toEqual([])
  })

  it('have a paragraph of the guide for each alert', () => {
    const guide = readFileSync(new URL('../../../docs/operating/index.md', import.meta.url), 'utf8')
    const page = 'https://github.com/leasehold/leasehold/blob/main/docs/operating/index.md'
    const alerts = alertNames(rules)
    expect(alerts.length).toBeGreaterThanOrEqual(10)
    for (const alert of alerts) {
      expect(guide).toContain(`\n### ${alert}\n\n`)
      expect(rules).toContain(`runbook_url: ${page}#${alert.toLowerCase()}\n`)
    }
  })
})

function withoutPart(name: string): string {
  return name.replace(/_(?:bucket|count|sum)$/, '')
}
