import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The folder of the templates, beside the sources and beside the bundle. */
export const templates = fileURLToPath(new URL('../templates/', import.meta.url))

/** The description of a folder in `templates/stores` or `templates/recipes`. */
export interface Part {
  /** For the question. */
  readonly title: string
  /** The ids of the packages of this repository that its files import, beside core. */
  readonly packages: readonly string[]
  /** The other packages that they import, with their ranges. */
  readonly dependencies: Readonly<Record<string, string>>
}

export type PartKind = 'stores' | 'recipes'

export function readPart(kind: PartKind, id: string): Part {
  return JSON.parse(readFileSync(`${templates}${kind}/${id}/part.json`, 'utf8'))
}
