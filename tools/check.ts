import { reportApis } from './api-report.js'
import { reportSizes } from './entry-sizes.js'
import { runQuietTool, runTool } from './run-tool.js'
import { packages, shown, type Workspace } from './workspaces.js'

/** The steps of `npm run check`, in order. Each returns whether it passed. */
const steps: Record<string, () => boolean | Promise<boolean>> = {
  lint: () => runTool('biome', ['check', '--error-on-warnings', '.']),
  types: () =>
    all([
      () => runTool('tsc', ['-b']),
      () => runTool('tsc', ['-p', 'tsconfig.test.json']),
      // These pages run in a browser, and are written in TSX.
      () => runTool('tsc', ['-p', 'packages/ui/tsconfig.client.json']),
      () => runTool('tsc', ['-p', 'docs/playground']),
    ]),
  unused: () =>
    all([
      () => runTool('knip', ['--no-config-hints']),
      // Production code that only tests use counts as unused.
      () => runTool('knip', ['--production', '--no-config-hints', '--include', 'files,dependencies,unlisted']),
    ]),
  shape: () => all([() => runTool('tsx', ['tools/bundle.ts']), ...packages().map(checkShape)]),
  sizes: () => reportSizes({ update: false }),
  api: () => reportApis({ update: false }),
}

/** Checks the package as it would be packed; `dist` must be built. */
function checkShape({ folder }: Workspace): () => boolean {
  return () => {
    const good = all([
      () => runQuietTool('publint', ['--strict'], folder),
      () => runQuietTool('attw', ['--pack', '.', '--profile', 'esm-only', '--format', 'ascii'], folder),
    ])
    console.log(`${shown(folder)}: ${good ? 'good' : 'see above'}`)
    return good
  }
}

/** Runs every check, also after a failure. */
function all(checks: readonly (() => boolean)[]): boolean {
  return checks.map((check) => check()).every(Boolean)
}

async function main(asked: readonly string[]): Promise<void> {
  const unknown = asked.filter((name) => !(name in steps))
  if (unknown.length > 0) throw new Error(`no such check: ${unknown.join(', ')}; there are ${Object.keys(steps)}`)
  const failed: string[] = []
  for (const [name, run] of Object.entries(steps)) {
    if (asked.length > 0 && !asked.includes(name)) continue
    console.log(`\n── ${name} ──`)
    if (!(await run())) failed.push(name)
  }
  console.log(failed.length === 0 ? '\nAll checks passed.' : `\nFailed: ${failed.join(', ')}.`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

await main(process.argv.slice(2))
