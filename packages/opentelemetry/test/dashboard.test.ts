import { describe, expect, it } from 'vitest'
import { dashboard, type Panel } from './support/deploy-files.js'

const panels = dashboard.panels.filter(({ type }) => type !== 'row')

const keys = (text: string): ReadonlySet<string> => new Set(text.split(' '))

const DASHBOARD_KEYS = keys(
  'annotations description editable fiscalYearStartMonth graphTooltip links liveNow panels refresh schemaVersion tags ' +
    'templating time timezone title uid version weekStart',
)
const PANEL_KEYS = keys('collapsed datasource description fieldConfig gridPos id options panels targets title type')
const VARIABLE_KEYS = keys(
  'allValue current datasource hide includeAll label multi name options query refresh regex sort type',
)
const FIELD_KEYS = keys('color custom decimals max min thresholds unit')

function unknownKeys(objects: readonly object[], known: ReadonlySet<string>): string[] {
  return objects.flatMap((each) => Object.keys(each)).filter((key) => !known.has(key))
}

function overlap(one: Panel, other: Panel): boolean {
  const [a, b] = [one.gridPos, other.gridPos]
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

describe('the dashboard', () => {
  it('can be imported: it has an identity, a version of its schema and no data source of its own', () => {
    expect(dashboard).toMatchObject({
      uid: 'leasehold',
      title: 'Leasehold',
      schemaVersion: 39,
      annotations: { list: [] },
    })
    const sources = new Set(panels.map(({ datasource }) => JSON.stringify(datasource)))
    expect([...sources]).toEqual(['{"type":"prometheus","uid":"${datasource}"}'])
  })

  // By the schema that Grafana publishes for its SDKs, jsonschema/dashboard.jsonschema.json of grafana-foundation-sdk.
  it('has only keys that the schema of Grafana knows', () => {
    expect(unknownKeys([dashboard], DASHBOARD_KEYS)).toEqual([])
    expect(unknownKeys(dashboard.panels, PANEL_KEYS)).toEqual([])
    expect(unknownKeys(dashboard.templating.list, VARIABLE_KEYS)).toEqual([])
    const defaults = panels.map(({ fieldConfig }) => fieldConfig?.defaults ?? {})
    expect(unknownKeys(defaults, FIELD_KEYS)).toEqual([])
    for (const { thresholds } of defaults) {
      for (const { color, value } of thresholds?.steps ?? [])
        expect([typeof color, typeof value]).toEqual(['string', 'number'])
    }
  })

  it('has panels with ids of their own, which stand beside each other on a grid of 24 columns', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    for (const panel of dashboard.panels) {
      expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24)
      for (const other of dashboard.panels) {
        if (other !== panel)
          expect([panel.title, other.title, overlap(panel, other)]).toEqual([panel.title, other.title, false])
      }
    }
  })

  it('says in each panel what it shows', () => {
    for (const { title, description = '', targets = [] } of panels) {
      expect([title, description]).toEqual([title, expect.stringMatching(/\.$/)])
      expect(new Set(targets.map(({ refId }) => refId)).size).toBe(targets.length)
      expect(targets.length).toBeGreaterThan(0)
    }
  })

  it('uses only variables that it has', () => {
    const known = new Set(['__rate_interval', '__range', ...dashboard.templating.list.map(({ name }) => name)])
    const used = [...JSON.stringify(dashboard).matchAll(/\$\{?(\w+)/g)].map(([, name]) => name)
    expect(used.filter((name) => name !== '__all' && !known.has(name ?? ''))).toEqual([])
  })
})
