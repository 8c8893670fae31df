import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesBelow, packages, root } from '../workspaces.js'

const page = readFileSync(join(root, 'docs/reference/events.md'), 'utf8')

/** The rows of the table: the object, and the event. */
const rows = new Set([...page.matchAll(/^\| `(\w+)` \| `(\w+)` \|/gm)].map(([, object, event]) => `${object} ${event}`))

/** The objects whose events do not have their name. */
const objects: Readonly<Record<string, string>> = { Lease: 'StoreLease', Leader: 'LeaderElection' }

/** The events that the public types declare, each with its object. */
function declaredEvents(): string[] {
  const reports = packages().flatMap(({ folder }) => filesBelow(folder, '.api.md'))
  return reports.flatMap((report) => {
    const declared = readFileSync(report, 'utf8')
      .replaceAll('\r', '')
      .matchAll(/^export interface (\w+)Events(?: extends \w+)? \{\n([\s\S]*?)^\}/gm)
    return [...declared].flatMap(([, name = '', body = '']) =>
      [...body.matchAll(/^ {4}(?:\/\/ .*\n {4})?(\w+): \[/gm)].map(([, event]) => `${objects[name] ?? name} ${event}`),
    )
  })
}

describe('the table of events', () => {
  it.each([...new Set(declaredEvents())])('has a row for %s', (event) => {
    expect([...rows]).toContain(event)
  })

  it('is compared with the events of leases and recipes', () => {
    expect(declaredEvents()).toEqual(expect.arrayContaining(['StoreLease lost', 'LeaderElection elected']))
  })

  it('has all reasons of a loss', () => {
    const core = readFileSync(join(root, 'packages/core/core.api.md'), 'utf8').replaceAll('\r', '')
    const [, union = ''] = /^export type LeaseLostReason = (.*);$/m.exec(core) ?? []
    const reasons = [...union.matchAll(/'([\w-]+)'/g)].map(([, reason]) => reason)
    expect(reasons.length).toBeGreaterThan(0)
    const [, list = ''] = page.split('## Reasons of a loss')
    expect([...list.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, reason]) => reason)).toEqual(reasons)
  })
})
