import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import * as core from '@leasehold/core'
import * as recipes from '@leasehold/recipes'
import ts from 'typescript'

const installed = createRequire(import.meta.url)

/** Runs changed code in this process, over a store in memory in the place of Redis. */
export function runChanged(entry: string): Record<string, unknown> {
  const store = new core.MemoryLeaseStore()
  // A constructor that returns an object: every store that the code makes is this one.
  const RedisLeaseStore = function RedisLeaseStore() {
    return store
  }
  const Redis = class Redis {}
  const modules: Record<string, unknown> = {
    '@leasehold/core': core,
    '@leasehold/recipes': recipes,
    '@leasehold/redis': { RedisLeaseStore },
    ioredis: Object.assign(Redis, { Redis, default: Redis, __esModule: true }),
  }
  const loaded = new Map<string, Record<string, unknown>>()
  const load = (file: string): Record<string, unknown> => {
    const known = loaded.get(file)
    if (known !== undefined) return known
    const module = { exports: {} as Record<string, unknown> }
    loaded.set(file, module.exports)
    const require = (name: string): unknown =>
      name.startsWith('.') ? load(sourceOf(join(dirname(file), name))) : (modules[name] ?? installed(name))
    new Function('require', 'module', 'exports', asCommonJs(file))(require, module, module.exports)
    loaded.set(file, module.exports)
    return module.exports
  }
  return { ...load(entry), store }
}

function asCommonJs(file: string): string {
  return ts.transpileModule(readFileSync(file, 'utf8'), {
    fileName: file.replace(/\.mjs$/, '.js'),
    compilerOptions: {
      module: ts.ModuleKind.CommonJS,
      target: ts.ScriptTarget.ES2022,
      esModuleInterop: true,
      allowJs: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    },
  }).outputText
}

function sourceOf(path: string): string {
  const candidates = [path, `${path}.js`, path.replace(/\.js$/, '.ts')]
  return candidates.find((candidate) => existsSync(candidate)) ?? path
}

/** The messages of the compiler about these files, in strict mode. */
export function typeFaults(files: readonly string[]): string[] {
  const program = ts.createProgram({
    rootNames: files,
    options: {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      target: ts.ScriptTarget.ES2023,
      lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      customConditions: ['@leasehold/source'],
      types: ['node'],
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
      isolatedModules: true,
    },
  })
  return files.flatMap((name) => {
    const file = program.getSourceFile(name)
    return ts
      .getPreEmitDiagnostics(program, file)
      .filter((diagnostic) => diagnostic.file === file)
      .map(({ messageText }) => `${name}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
  })
}
