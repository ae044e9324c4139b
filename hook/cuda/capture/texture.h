/* Texture and surface objects. */
#ifndef NEUTRINO_CUDA_CAPTURE_TEXTURE_H
#define NEUTRINO_CUDA_CAPTURE_TEXTURE_H

/* A region begins: refuse it if any live. */
void nb_capture_textures(void) __attribute__((visibility("hidden")));

#endif
