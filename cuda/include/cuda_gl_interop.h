// cuda_gl_interop.h -- memory shared with OpenGL. There is no graphics here: each call returns error 801.
#pragma once
#include "cuda_runtime.h"

#if __has_include(<GL/gl.h>)
#include <GL/gl.h>
#else
typedef unsigned int GLuint, GLenum;
#endif

#ifdef __cplusplus
extern "C" {
#endif
cudaError_t cudaGraphicsGLRegisterBuffer(struct cudaGraphicsResource **resource, GLuint buffer, unsigned int flags);
cudaError_t cudaGraphicsGLRegisterImage(struct cudaGraphicsResource **resource, GLuint image, GLenum target,
                                        unsigned int flags);
cudaError_t cudaGLSetGLDevice(int device);
cudaError_t cudaGLRegisterBufferObject(GLuint buffer);
cudaError_t cudaGLUnregisterBufferObject(GLuint buffer);
cudaError_t cudaGLMapBufferObject(void **ptr, GLuint buffer);
cudaError_t cudaGLUnmapBufferObject(GLuint buffer);
#ifdef __cplusplus
}
#endif
