import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { filesBelow, packages, root, shown } from './workspaces.js'

/**
 * The benches of every package, or of those named: `bench/main.ts` where there is one, which then runs what lies beside
 * it; else every file of `bench/`. What they share lies in folders below.
 */
function benches(asked: readonly string[]): string[] {
  return packages()
    .filter(({ id }) => asked.length === 0 || asked.includes(id))
    .flatMap(({ folder }) => {
      const bench = join(folder, 'bench')
      const files = filesBelow(bench, '.ts').filter((file) => dirname(file) === bench)
      const main = join(bench, 'main.ts')
      return files.includes(main) ? [main] : files
    })
}

/** A process a file, one after the other, so that none measures what another one left behind. */
function run(file: string): boolean {
  console.log(`\n── ${shown(file)} ──`)
  // Without the source condition: what is measured is what is published, not what a loader makes of it.
  const options = ['--expose-gc', '--import', 'tsx']
  return spawnSync(process.execPath, [...options, file], { cwd: root, stdio: 'inherit' }).status === 0
}

const failed = benches(process.argv.slice(2)).filter((file) => !run(file))
for (const file of failed) console.error(`${shown(file)} failed`)
process.exitCode = failed.length === 0 ? 0 : 1
