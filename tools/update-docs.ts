// Writes the parts of the pages that come from sources: snippets, options, the man page and the architecture.
import './update-snippets.js'
import './update-options.js'
import './update-man.js'
import './update-architecture.js'
