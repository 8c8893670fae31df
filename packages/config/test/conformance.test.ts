import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, extname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ConfigError, type IncludedText, type IncludeRequest } from '@leasehold/config'
import { temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'
import { bytes, duration, list, load, parse } from './conformance/adapter.mjs'

/** One case of the sample. `line`: the expected line of the error. */
interface Case {
  readonly name: string
  readonly category: string
  readonly input: string
  readonly layers?: readonly string[]
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly api?: 'duration' | 'bytes' | 'list'
  readonly path?: string
  readonly expect?: unknown
  readonly error?: true
  readonly line?: number
  readonly lineAlt?: readonly number[]
  readonly alt?: readonly { readonly expect?: unknown; readonly error?: true }[]
}

const conversions = { duration, bytes, list }

const cases = JSON.parse(readFileSync(new URL('./conformance/cases.json', import.meta.url), 'utf8')) as readonly Case[]

describe.each([...new Set(cases.map(({ category }) => category))])('HOCON, %s', (category) => {
  it.each(cases.filter((one) => one.category === category))('$name: $input', (one) => {
    const outcome = run(one)
    const accepted = [one, ...(one.alt ?? [])]
    if (outcome.error === undefined) {
      expect(accepted.map((wanted) => wanted.expect)).toContainEqual(
        typeof outcome.value === 'number' ? expect.closeTo(outcome.value, 9) : outcome.value,
      )
      return
    }
    expect(accepted, outcome.error.message).toContainEqual(expect.objectContaining({ error: true }))
    expect(outcome.error).toBeInstanceOf(ConfigError)
    if (one.line !== undefined) expect([one.line, ...(one.lineAlt ?? [])]).toContain(outcome.error.line)
  })
})

function run(one: Case): { value?: unknown; error?: ConfigError } {
  const folder = temporaryFolder()
  const fill = (text: string): string => text.replaceAll('@DIR@', folder)
  for (const [file, text] of Object.entries(one.files ?? {})) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), fill(text))
  }
  const options = { env: one.env ?? {}, readInclude, id: join(folder, 'application.conf') }
  try {
    const plain: Record<string, unknown> =
      one.layers === undefined ? parse(fill(one.input), options) : load(one.layers.map(fill), options)
    return { value: one.api === undefined ? plain : conversions[one.api](plain[one.path ?? '']) }
  } catch (error) {
    if (error instanceof ConfigError) return { error }
    throw error
  }
}

/** Independent of the package's own reader of files. */
function readInclude({ kind, name, from = '' }: IncludeRequest): IncludedText[] {
  if (kind === 'url') return existsSync(fileURLToPath(name)) ? [documentAt(fileURLToPath(name))] : []
  if (kind === 'classpath') return []
  const path = kind === 'file' ? resolve(name) : resolve(dirname(from), name)
  const candidates = /\.(conf|json|properties)$/.test(path)
    ? [path]
    : ['.properties', '.json', '.conf'].map((x) => path + x)
  return candidates.filter((file) => existsSync(file) && statSync(file).isFile()).map(documentAt)
}

function documentAt(file: string): IncludedText {
  const format = { '.json': 'json', '.properties': 'properties' } as const
  const extension = extname(file) as keyof typeof format
  return { id: file, text: readFileSync(file, 'utf8'), format: format[extension] ?? 'conf' }
}
