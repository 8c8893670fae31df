import type { IncludeReader } from '@leasehold/config'

export interface AdapterOptions {
  readonly env: Readonly<Record<string, string>>
  readonly readInclude: IncludeReader
  readonly id: string
}

export function parse(text: string, options: AdapterOptions): Record<string, unknown>
export function load(layers: readonly string[], options: AdapterOptions): Record<string, unknown>
export function duration(value: unknown): number
export function bytes(value: unknown): number
export function list(value: unknown): unknown[]
