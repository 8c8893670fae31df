import { basename, resolve } from 'node:path'
import { UsageError } from './create-error.js'

/** The name of a pod is that of its Deployment and some 20 characters more. Kubernetes allows 63. */
const LONGEST = 40

/** The folder of a project, and the name that it gives to the package, the image and the Deployment. */
export interface Place {
  readonly folder: string
  readonly name: string
}

/**
 * The place for `my-service`, `services/my-service` or `.`. Throws a `UsageError` if the last part is no name for a package, an
 * image and a Deployment.
 */
export function placeOf(path: string, workingFolder: string): Place {
  const folder = resolve(workingFolder, path)
  const name = basename(folder)
  const fault = faultOfName(name)
  if (fault !== undefined) throw new UsageError(`'${name}' cannot be the name of the service: ${fault}`)
  return { folder, name }
}

function faultOfName(name: string): string | undefined {
  if (name === '') return 'give the name of a folder'
  if (name.length > LONGEST) return `it has ${name.length} characters; take ${LONGEST} at most`
  if (/[^a-z0-9-]/.test(name)) return `take small letters, digits and hyphens only, such as '${suggestion(name)}'`
  if (!/^[a-z]/.test(name)) return 'begin with a small letter'
  if (name.endsWith('-')) return 'end with a letter or a digit'
  return undefined
}

function suggestion(name: string): string {
  const words = name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return words.join('-').replace(/^[0-9-]+/, '') || 'my-service'
}
