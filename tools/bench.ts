import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { filesBelow, packages, root, shown } from './workspaces.js'

/**
 * The benchmarks of the given packages, or of all: `bench/main.ts`, which runs the other files of its folder; without it,
 * every file of `bench/`. Subfolders contain shared code.
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

/** Runs each file in its own process, one after the other, so that no benchmark affects the next one. */
function run(file: string, args: readonly string[] = []): boolean {
  console.log(`\n── ${shown(file)} ──`)
  // Without the source condition, the benchmark measures the published code, not code that a loader has transformed.
  const options = ['--expose-gc', '--import', 'tsx']
  return spawnSync(process.execPath, [...options, file, ...args], { cwd: root, stdio: 'inherit' }).status === 0
}

/** `npm run bench -- NAME`: a folder of `bench/`, with the arguments of its program, or packages. */
function main(argv: readonly string[]): void {
  const [name = '', ...args] = argv
  const program = join(root, 'bench', name, 'main.ts')
  const failed = existsSync(program)
    ? [program].filter((file) => !run(file, args))
    : benches(argv).filter((file) => !run(file))
  for (const file of failed) console.error(`${shown(file)} failed`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

main(process.argv.slice(2))
