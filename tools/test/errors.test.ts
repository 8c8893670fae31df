import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { filesBelow, packages, root } from '../workspaces.js'

const page = readFileSync(join(root, 'docs/reference/errors.md'), 'utf8')

/** The errors that the public types declare, by their classes. Abstract ones are the bases of the others. */
function exportedErrors(): string[] {
  const reports = packages().flatMap(({ folder }) => filesBelow(folder, '.api.md'))
  const classes = reports.flatMap((report) => [
    ...readFileSync(report, 'utf8').matchAll(/^export class (\w+) extends (?:\w*Error)\b/gm),
  ])
  return [...new Set(classes.map(([, name = '']) => name))].sort()
}

it('the page of errors has a row for each error that a package exports, with what it means and what to do', () => {
  const rows = page.matchAll(/^\| `(\w+Error)`[^|]* \| [^|]*\w[^|]* \| [^|]*\w[^|]* \|$/gm)
  expect([...rows].map(([, name]) => name).sort()).toEqual(exportedErrors())
})

it('the page of errors has the codes of a LeaseError', () => {
  const core = readFileSync(join(root, 'packages/core/core.api.md'), 'utf8')
  const [, union = ''] = /^export type LeaseErrorCode = (.*);$/m.exec(core) ?? []
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code]) => code)
  expect(codes.length).toBeGreaterThan(0)
  expect([...page.matchAll(/^\| `Lease\w+`, `(\w+)` \|/gm)].map(([, code]) => code).sort()).toEqual(codes.sort())
})
