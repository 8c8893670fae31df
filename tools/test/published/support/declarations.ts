import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { COMPILER_OPTIONS } from './installed-project.js'

/**
 * Checks a project that imports these entries, and the declarations of all packages of ours in it. One for all projects: each file
 * is parsed once.
 */
export class DeclarationChecker {
  readonly #options: ts.CompilerOptions
  readonly #host: ts.CompilerHost

  constructor() {
    // Declarations of others, such as XState's, have faults with this option: only ours are checked with it.
    const strictest = { ...COMPILER_OPTIONS, exactOptionalPropertyTypes: true, module: 'nodenext', noEmit: true }
    const { options } = ts.convertCompilerOptionsFromJson(strictest, '/')
    this.#options = options
    this.#host = ts.createCompilerHost(options)
    const read = this.#host.getSourceFile
    const parsed = new Map<string, ts.SourceFile | undefined>()
    this.#host.getSourceFile = (file, ...rest) => {
      // Where files of a project are, others of the same name may have been before.
      if (!file.includes('typescript/lib/')) return read(file, ...rest)
      if (!parsed.has(file)) parsed.set(file, read(file, ...rest))
      return parsed.get(file)
    }
  }

  /** What is wrong, as `tsc` prints it; an empty text if nothing is. */
  faults(folder: string, entries: readonly string[]): string {
    const main = join(folder, 'main.mts')
    const lines = entries.map((entry, index) => `export * as e${index} from '${entry}'`)
    writeFileSync(main, `${lines.join('\n')}\n`)
    const typeRoots = [join(folder, 'node_modules', '@types')]
    const host = { ...this.#host, getCurrentDirectory: () => folder }
    const program = ts.createProgram([main], { ...this.#options, typeRoots }, host)
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder))
    const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
    for (const file of own)
      found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file))
    return ts.formatDiagnostics(found, host)
  }
}
