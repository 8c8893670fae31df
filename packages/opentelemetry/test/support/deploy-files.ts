import { readFileSync } from 'node:fs'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The text of the alerts. */
export const rules: string = read('prometheus/leasehold.rules.yml')

export interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly datasource?: unknown
  readonly fieldConfig?: {
    readonly defaults: { readonly thresholds?: { readonly steps: readonly { color: string; value: number }[] } }
  }
  readonly targets?: readonly { readonly refId: string; readonly expr: string; readonly legendFormat: string }[]
}

export interface Dashboard {
  readonly uid: string
  readonly title: string
  readonly schemaVersion: number
  readonly annotations: { readonly list: readonly object[] }
  readonly panels: readonly Panel[]
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly type: string; readonly query: string }[]
  }
}

export const dashboard: Dashboard = JSON.parse(read('grafana/leasehold.json'))

/** The names of the alerts of a file of rules. */
export function alertNames(text: string): string[] {
  return [...text.matchAll(/- alert: (\w+)/g)].map(([, name]) => name ?? '')
}

/** All expressions of the panels. */
export function expressionsOf({ panels }: Dashboard): string[] {
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
}
