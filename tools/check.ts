import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { reportApis } from './api-report.js'
import { reportSizes } from './entry-sizes.js'
import { runQuietTool, runTool } from './run-tool.js'
import { packages, root, shown } from './workspaces.js'

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
  shape: () => all([() => runTool('tsx', ['tools/bundle.ts']), checkShapes]),
  sizes: () => reportSizes({ update: false }),
  api: () => reportApis({ update: false }),
}

/** Checks the packages as npm packs them; `dist` must be built. They are packed once: each start of npm takes a second. */
function checkShapes(): boolean {
  const tarballs = mkdtempSync(join(tmpdir(), 'leasehold-shapes-'))
  try {
    const files = packInto(tarballs)
    return all(
      packages().map(({ folder, manifest: { name } }) => () => {
        const file = join(tarballs, files.get(name) ?? '')
        const good = all([
          () => runQuietTool('publint', ['--strict', file]),
          () => runQuietTool('attw', [file, '--profile', 'esm-only', '--format', 'ascii']),
        ])
        console.log(`${shown(folder)}: ${good ? 'good' : 'see above'}`)
        return good
      }),
    )
  } finally {
    rmSync(tarballs, { recursive: true, force: true })
  }
}

/** Packs all packages into this folder; returns the name of each file by that of its package. */
function packInto(folder: string): ReadonlyMap<string, string> {
  const folders = packages().map((workspace) => workspace.folder)
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder, ...folders]
  const packed = execFileSync('npm', args, {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 2 ** 26,
  })
  const made = JSON.parse(packed) as readonly { readonly name: string; readonly filename: string }[]
  return new Map(made.map(({ name, filename }) => [name, filename]))
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
